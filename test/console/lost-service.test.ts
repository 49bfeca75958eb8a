/** The API is killed while a person writes a campaign: no character is lost, with the page open or closed meanwhile. */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { isChromiumInstalled } from "#test/support/chromium.ts";
import { eventually } from "#test/support/eventually.ts";
import { freePort } from "#test/support/free-port.ts";
import { type ConsoleScene, openConsole } from "./open-console.ts";
import { addSender, SENDER } from "./seed.ts";

const PATIENCE_MS = 180_000;
const JOURNEY_MS = 120_000;
/** As fast as a person types without a pause. */
const KEY_MS = 15;
const START = "A mail about the spring. ";
const BEFORE = "These words are typed while the service runs, and those that come next while it is gone: ";
const AFTER = "nothing of what is written here may be lost, whatever happens to the service. ";
const LATER = "And this is written while it is gone again, before the page is closed.";

describe.skipIf(!isChromiumInstalled)("in a browser", () => {
  let scene: ConsoleScene;
  let address: string;
  let campaign: string;

  beforeAll(async () => {
    // The browser finds the service again where it was.
    scene = await openConsole({ PORT: String(await freePort()) });
    await addSender(scene.scene, "The shop");
    const { body } = await scene.callAsOwner()("POST", "/campaigns", {
      name: "Spring",
      subject: "Spring is here",
      from_email: SENDER,
      html_content: START,
    });
    campaign = body.data.id;
    address = `/console/${scene.workspace}/campaigns/${campaign}`;
  }, PATIENCE_MS);

  const stored = async () =>
    (await scene.callAsOwner()("GET", `/campaigns/${campaign}`)).body.data.html_content as string;
  const storedBecomes = (text: string) =>
    eventually("all of the text in the service", async () => (await stored()) === text, 60_000);
  async function write(page: Page, text: string): Promise<void> {
    await page.getByRole("textbox", { name: "HTML" }).focus();
    await page.keyboard.press("ControlOrMeta+End");
    await page.keyboard.type(text, { delay: KEY_MS });
  }

  test(
    "kill -9 of the API while a person types loses no character",
    async () => {
      const { program } = scene.scene;
      const context = await scene.newContext();
      const page = await context.newPage();
      await page.goto(address);
      await write(page, BEFORE);
      await Promise.all([write(page, AFTER), program.kill("SIGKILL")]);
      await page.getByText(/^Saved here .* the service does not answer$/).waitFor({ timeout: 20_000 });
      await program.start();
      await storedBecomes(START + BEFORE + AFTER);
      await page.getByText(/^Saved [\d:]+$/).waitFor();

      await program.kill("SIGKILL");
      await write(page, LATER);
      await page.getByText(/^Saved here .* the service does not answer$/).waitFor({ timeout: 20_000 });
      await page.close();
      await program.start();
      const again = await context.newPage();
      await again.goto(address);
      await again.getByRole("dialog", { name: "Changes that were not saved" }).waitFor();
      await again.getByRole("button", { name: "Continue with your changes" }).click();
      await storedBecomes(START + BEFORE + AFTER + LATER);
      await again.getByText(/^Saved [\d:]+$/).waitFor();
      expect(await again.getByRole("dialog").count()).toBe(0);
    },
    JOURNEY_MS,
  );

  test("a tab from before an upgrade loads the new console when it needs a part that is gone", async () => {
    const context = await scene.newContext();
    const page = await context.newPage();
    await page.goto(address);
    await page.getByRole("textbox", { name: "HTML" }).waitFor();
    let isGone = true;
    await page.route(/send-sheet/, (route) => (isGone ? route.fulfill({ status: 404 }) : route.continue()));
    const reloaded = page.waitForEvent("load");
    await page.getByRole("button", { name: /^Send/ }).click();
    await reloaded;
    isGone = false;
    await page.getByRole("button", { name: /^Send/ }).click();
    await page.getByRole("dialog").waitFor();
    await context.close();
  });
});
