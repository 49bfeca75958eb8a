/** What the device of a person decides: the theme from the first frame on, and the zone in which times are shown. */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { isChromiumInstalled } from "#test/support/chromium.ts";
import { type ConsoleScene, openConsole } from "./open-console.ts";
import { readPixels } from "./pixels.ts";
import { addSender, SENDER } from "./seed.ts";

const PATIENCE_MS = 180_000;

/** Instants before and after a change of the clock, as the zone shows them. Kiritimati is a day ahead of Los Angeles. */
const shown: readonly (readonly [zone: string, before: string, after: string])[] = [
  ["America/Los_Angeles", "14 Mar 2038, 01:30:00 GMT-8", "14 Mar 2038, 03:30:00 GMT-7"],
  ["Asia/Kolkata", "14 Mar 2038, 15:00:00 GMT+5:30", "14 Mar 2038, 16:00:00 GMT+5:30"],
  ["Pacific/Kiritimati", "14 Mar 2038, 23:30:00 GMT+14", "15 Mar 2038, 00:30:00 GMT+14"],
];
const instants = ["2038-03-14T09:30:00Z", "2038-03-14T10:30:00Z"];

describe.skipIf(!isChromiumInstalled)("in a browser", () => {
  let scene: ConsoleScene;

  beforeAll(async () => {
    scene = await openConsole();
    await addSender(scene.scene, "The shop");
  }, PATIENCE_MS);

  /** The brightness of the first pixel, from 0 to 255. */
  const brightness = async (page: Page) => readPixels(await page.screenshot()).rgba[0] ?? 255;

  test.each([
    ["the system is dark", "dark", undefined],
    ["the person chose dark on a light system", "light", "dark"],
  ] as const)("the page is dark before any of its scripts runs, if %s", async (_case, colorScheme, theme) => {
    const context = await scene.newContext({ colorScheme });
    await context.addInitScript(
      `if (${JSON.stringify(theme ?? "")}) localStorage.setItem("theme", "${theme}")`,
    );
    const page = await context.newPage();
    await page.route(/\.js$/, (route) => route.abort());
    await page.goto("/console/");
    expect(await brightness(page)).toBeLessThan(64);
    await context.close();
  });

  test("times are those of the browser's zone, across a change of its clock", async () => {
    const call = scene.callAsOwner();
    for (const [at, scheduled_at] of instants.entries()) {
      const { body: list } = await call("POST", "/mailing-lists", { name: `List ${at}` });
      await call("POST", `/mailing-lists/${list.data.id}/subscribers`, { email: "hedy@example.com" });
      const { body: campaign } = await call("POST", "/campaigns", {
        name: `Campaign ${at}`,
        subject: "Spring",
        from_email: SENDER,
        html_content: "<p>Spring</p>",
        mailing_list_id: list.data.id,
      });
      const sent = await call("POST", `/campaigns/${campaign.data.id}/send`, { scheduled_at });
      expect([sent.status, sent.body.error]).toEqual([200, undefined]);
    }
    for (const [timezoneId, ...times] of shown) {
      const context = await scene.newContext({ timezoneId });
      const page = await context.newPage();
      await page.goto(`/console/${scene.workspace}/campaigns`);
      for (const [at, time] of times.entries()) {
        const row = page.getByRole("row", { name: new RegExp(`Campaign ${at}`) });
        expect(await row.locator("time").last().getAttribute("title")).toBe(time);
      }
      await context.close();
    }
  });
});
