/** The pages of share links in a real browser: on a phone, light and dark, by what axe finds. */
import type { Browser, Page } from "playwright-core";
import sql from "sql-template-tag";
import { beforeAll, describe, expect, test } from "vitest";
import { axeFindings } from "#test/support/axe.ts";
import { isChromiumInstalled, startChromium } from "#test/support/chromium.ts";
import { startService, type TestService } from "#test/support/service.ts";
import { sentCampaign } from "#test/support/tracked-campaign.ts";

const phone = { width: 375, height: 800 };
const password = "a password to share";

// Skipped where neither Chromium nor Chrome is installed; .ci/run installs one.
describe.skipIf(!isChromiumInstalled)("a shared page on a phone", () => {
  let browser: Browser;
  let service: TestService;

  beforeAll(async () => {
    browser = await startChromium();
    service = await startService();
  });

  async function share(body: object): Promise<string> {
    return (await service.call("POST", "/share-links", body)).body.data.url;
  }

  async function shareReport(): Promise<string> {
    const { url: base, database, workspaceId, clock } = service;
    const urls = ["https://shop.example/", `https://shop.example/${"sale".repeat(60)}?utm_source=mail`];
    const { campaignId } = await sentCampaign(database, workspaceId, {
      base,
      urls,
      deliveredAt: clock.now(),
    });
    await database.run(sql`
      update campaigns set sent_at = created_at, name = ${"Spring".repeat(20)} where id = ${campaignId}`);
    return share({ kind: "campaign_report", resource_id: campaignId, password });
  }

  async function shareRecords(): Promise<string> {
    const { body } = await service.call("POST", "/sending-domains", { domain: "phone.example" });
    service.dns.zone["phone.example"] = { TXT: ["v=spf1 -all"] };
    return share({ kind: "dns_records", resource_id: body.data.id });
  }

  /** What is wrong with the page: what axe finds, and content wider than the screen. */
  async function faultsOf(page: Page): Promise<string[]> {
    const width = await page.evaluate<number>("document.documentElement.scrollWidth");
    return [...(await axeFindings(page)), ...(width > phone.width ? [`${width} pixels wide`] : [])];
  }

  test.each(["light", "dark"] as const)("has no finding of axe, and fits: %s", async (colorScheme) => {
    const context = await browser.newContext({ viewport: phone, colorScheme });
    const page = await context.newPage();
    const faults: string[] = [];
    page.on("console", (message) => faults.push(message.text()));
    page.on("request", (request) => {
      if (!request.url().startsWith(service.url)) faults.push(request.url());
    });
    await page.goto(await shareReport());
    expect(await faultsOf(page)).toEqual([]);
    await page.getByLabel("Password").fill("a wrong password");
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByRole("alert").waitFor();
    expect(await faultsOf(page)).toEqual([]);
    faults.splice(0);
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByRole("table", { name: "Links" }).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    expect(faults).toEqual([]);
    await context.close();
  });

  test.each(["light", "dark"] as const)("shows DNS records: %s", async (colorScheme) => {
    await service.database.run(sql`delete from sending_domains`);
    const context = await browser.newContext({ viewport: phone, colorScheme });
    const page = await context.newPage();
    await page.goto(await shareRecords());
    await page.getByRole("heading", { name: "DKIM" }).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await context.close();
  });
});
