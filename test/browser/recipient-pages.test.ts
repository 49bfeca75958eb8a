/** The pages that recipients see, in a real browser: every page in every language, and without scripts. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { directionOf, htmlTagOf, languages } from "#platform/languages/language.ts";
import { isChromiumInstalled, startChromium } from "#test/support/chromium.ts";
import { fakeMxCertificate, fakeMxKey } from "#test/support/fake-mx.ts";
import { brandNames, recipientPageNames, recipientPageServer } from "#test/support/recipient-pages.ts";
import { startService } from "#test/support/service.ts";
import { signupVisits } from "#test/support/signup-visits.ts";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const axeOptions = {
  resultTypes: ["violations"],
  runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
  rules: { "target-size": { enabled: true } },
};

const phone = { width: 375, height: 740 };
const desk = { width: 1280, height: 800 };

// Skipped where neither Chromium nor Chrome is installed; .ci/run installs one.
describe.skipIf(!isChromiumInstalled)("pages for recipients", () => {
  let browser: Browser;
  let page: Page;
  let base: string;

  beforeAll(async () => {
    browser = await startChromium();
    page = await browser.newPage({ viewport: phone });
    const server = recipientPageServer();
    afterAll(() => server.close());
    base = await server.listen({ host: "127.0.0.1", port: 0 });
  });

  /** What axe finds, a line for each element. */
  function axe(): Promise<string[]> {
    return page.evaluate<string[]>(
      `axe.run(document, ${JSON.stringify(axeOptions)}).then(({ violations }) =>
        violations.flatMap(({ id, nodes }) => nodes.map(({ html, any }) => id + ": " + html + " " + any.map(({ message }) => message))))`,
    );
  }

  /** Whether the page scrolls sideways, and whether its policy refuses its style. */
  async function layoutFaults(): Promise<string[]> {
    const [isWide, isStyled] = await page.evaluate<[boolean, boolean]>(
      `[document.documentElement.scrollWidth > innerWidth, getComputedStyle(document.querySelector("main")).maxWidth !== "none"]`,
    );
    return [...(isWide ? ["scrolls sideways"] : []), ...(isStyled ? [] : ["has no style"])];
  }

  describe.each(languages)("in %s", (language) => {
    test("axe finds nothing, nothing scrolls sideways, and they say their language and direction", async () => {
      await page.setExtraHTTPHeaders({ "Accept-Language": language });
      const faults: string[] = [];
      for (const [at, name] of recipientPageNames.entries()) {
        // Each brand in turn: what it changes does not depend on the language.
        const brand = brandNames[(at + languages.indexOf(language)) % brandNames.length];
        await page.setViewportSize(phone);
        await page.emulateMedia({ colorScheme: "light" });
        await page.goto(`${base}/${language}/${name}?brand=${brand}`);
        await page.evaluate(axeSource);
        const onPhone = [...(await axe()), ...(await layoutFaults())];
        await page.setViewportSize(desk);
        await page.emulateMedia({ colorScheme: "dark" });
        // What differs here does not depend on the language: each page is checked in two of them.
        const isChecked = (at + languages.indexOf(language)) % 6 === 0;
        const onDesk = [...(isChecked ? await axe() : []), ...(await layoutFaults())];
        const said = await page.evaluate<string>(
          `[document.documentElement.lang, getComputedStyle(document.body).direction].join()`,
        );
        const right = `${htmlTagOf(language)},${directionOf(language)}`;
        const all = [...onPhone, ...onDesk, ...(said === right ? [] : [`says ${said}`])];
        faults.push(...all.map((fault) => `${name} (${brand}): ${fault}`));
      }
      expect(faults).toEqual([]);
    });
  });

  test("a person signs up without scripts, in the browser's language, and comes where the thank-you address redirects", async () => {
    const service = await startService({ env: { PLATFORM_FROM: "hello@posthaste.test" } });
    const { body } = await service.call("POST", "/mailing-lists", { name: "Lettres" });
    const shop = createServer({ cert: fakeMxCertificate, key: fakeMxKey }, ({ url }, response) => {
      if (url === "/merci") response.writeHead(302, { Location: `https://localhost:${port}/bienvenue` });
      response.end();
    });
    onTestFinished(() => void shop.close());
    await once(shop.listen(0), "listening");
    const { port } = shop.address() as AddressInfo;
    const form = await service.call("PUT", `/mailing-lists/${body.data.id}/signup-form`, {
      is_active: true,
      language: "visitor",
      consent_text: "J’accepte.",
      thank_you_url: `https://127.0.0.1:${port}/merci`,
    });
    const context = await browser.newContext({
      javaScriptEnabled: false,
      locale: "fr-CH",
      viewport: phone,
      ignoreHTTPSErrors: true,
    });
    const visitor = await context.newPage();
    await visitor.goto(form.body.data.url);
    await visitor.getByLabel("Votre adresse e-mail").fill("zoe@example.test");
    await visitor.getByLabel("J’accepte.").check();
    service.clock.advance(2_000);
    await visitor.getByRole("button", { name: "S’abonner" }).click();
    await visitor.getByRole("heading", { name: "Consultez votre messagerie" }).waitFor();
    await visitor.goto(await signupVisits(service).linkTo("zoe@example.test"));
    await visitor.getByRole("button", { name: "Oui, m’abonner" }).click();
    await visitor.waitForURL(`https://localhost:${port}/bienvenue`);
    await context.close();
  });
});
