/** Wrong DNS records on the page of a domain, from the service's own look-ups: what differs is marked and said in a sentence. */
import type { BrowserContextOptions, Locator } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { isChromiumInstalled } from "#test/support/chromium.ts";
import { type ConsoleScene, openConsole } from "./open-console.ts";
import { WatchedPage } from "./watched-page.ts";

const PATIENCE_MS = 180_000;
const JOURNEY_MS = 60_000;
const domain = "shop.example";
const firstSpf = "v=spf1 include:spf.shop.example ~all";
const secondSpf = "v=spf1 mx -all";
/** What a TXT record of one string holds. */
const STRING_OCTETS = 255;

const looks: Readonly<Record<string, BrowserContextOptions>> = {
  "light, on a desk": { viewport: { width: 1280, height: 800 }, colorScheme: "light" },
  "dark, on a phone": { viewport: { width: 375, height: 720 }, colorScheme: "dark" },
};

interface Check {
  readonly host: string;
  readonly expected: string;
}

describe.skipIf(!isChromiumInstalled)("in a browser", () => {
  let scene: ConsoleScene;
  let address: string;
  let dkim: Check;

  beforeAll(async () => {
    scene = await openConsole();
    const call = scene.callAsOwner();
    const { id } = (await call("POST", "/sending-domains", { domain })).body.data;
    const { dns } = (await call("GET", `/sending-domains/${id}/dns-status`)).body.data;
    const ownership: Check = dns.ownership;
    dkim = dns.dkim;
    scene.scene.dns.zone = {
      [domain]: { TXT: [firstSpf, secondSpf], NS: ["bob.ns.cloudflare.com", "lola.ns.cloudflare.com"] },
      "spf.shop.example": { TXT: ["v=spf1 ip4:192.0.2.1 -all"] },
      [`${ownership.host}.${domain}`]: { TXT: [ownership.expected] },
      // Two records in the place of one of two strings.
      [dkim.host]: { TXT: [dkim.expected.slice(0, STRING_OCTETS), dkim.expected.slice(STRING_OCTETS)] },
      [`_dmarc.${domain}`]: { TXT: ["v=DMARC1; p=quarantaine"] },
    };
    address = `/console/${scene.workspace}/domains/${id}`;
  }, PATIENCE_MS);

  describe.each(Object.entries(looks))("%s", (_, look) => {
    test(
      "each wrong record says what is wrong, and marks what differs",
      async () => {
        const context = await scene.newContext(look);
        const watched = await WatchedPage.open(context);
        const { page } = watched;
        await watched.visit(address);
        const record = (title: RegExp) =>
          page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: title }) });
        const marked = (place: Locator) => place.locator("mark").allInnerTexts();

        const ownership = record(/^Ownership/);
        await ownership.getByText("DNS panels append the zone to the name that is entered").waitFor();
        expect(await marked(ownership)).toEqual([`.${domain}`]);

        const spf = record(/^SPF/);
        await spf.getByText("shop.example has 2 SPF records; receivers accept exactly one").waitFor();
        await spf.getByText("Found: 2 records").waitFor();
        expect(await spf.getByText(firstSpf).count()).toBe(1);
        expect(await spf.getByText(secondSpf).count()).toBe(1);
        expect(await marked(spf)).toEqual(["include:spf.mail.posthaste.test", "-"]);

        const key = record(/^DKIM/);
        await key.getByText(/^The key is cut off after \d+ of \d+ characters/).waitFor();
        await key.getByText("put its parts into one record").waitFor();
        const rest = dkim.expected.slice(STRING_OCTETS);
        expect(await marked(key)).toEqual([rest, rest]);

        const dmarc = record(/^DMARC: /);
        expect(await marked(dmarc)).not.toEqual([]);

        // The name for the form of the provider, which appends the domain itself.
        await page.getByText(`${domain} has its DNS at Cloudflare: add the records there.`).waitFor();
        await ownership.getByText("or, in the field Name of Cloudflare,").waitFor();
        await ownership.getByText("_posthaste-verify", { exact: true }).waitFor();
        expect(await watched.axe()).toEqual([]);
        expect(await watched.overflow()).toEqual([]);
        await context.close();
      },
      JOURNEY_MS,
    );
  });
});
