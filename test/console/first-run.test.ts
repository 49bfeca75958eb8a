/** From the link that a start prints to the first mail in the inbox, in the browser alone. */
import type { Browser } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { isChromiumInstalled, startChromium } from "#test/support/chromium.ts";
import type { Scene } from "#test/support/scene.ts";
import { localUrl, openFirstStart, owner, welcomeToken } from "./open-console.ts";

const PATIENCE_MS = 180_000;

describe.skipIf(!isChromiumInstalled)("in a browser", () => {
  let scene: Scene;
  let browser: Browser;
  beforeAll(async () => {
    scene = await openFirstStart();
    browser = await startChromium();
  }, PATIENCE_MS);

  test("/ leads to the sign-in", async () => {
    const page = await browser.newPage();
    await page.goto(`${localUrl(scene)}/`);
    await page.getByRole("heading", { name: "Sign in to Posthaste" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/console/sign-in");
    await page.close();
  });

  test("the printed link makes the owner, a key is made, and a mail sent with it is shown as delivered", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${localUrl(scene)}/console/welcome#${welcomeToken(scene)}`);
    await page.getByLabel("Your name").fill(owner.name);
    await page.getByLabel("Email").fill(owner.email);
    await page.getByLabel("Password").fill(owner.password);
    await page.getByRole("textbox", { name: "Workspace" }).fill(owner.workspace_name);
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("heading", { name: "Hello, Ada" }).waitFor();
    // The token of the link is not left in the address.
    expect(new URL(page.url()).hash).toBe("");

    await page.getByRole("link", { name: "API keys" }).click();
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name").fill("Web shop");
    await page.getByRole("button", { name: "Make the key" }).click();
    const secret = await page.getByText(/^efk_\w+$/).innerText();

    const message = { to: "first@example.com", subject: "The first mail", body: "<p>Hello</p>" };
    const { status, body } = await scene.program.call("POST", "/emails/send", message, { key: secret });
    expect(status).toBe(201);
    await scene.messageWhen("delivered", body.data.id);
    await page.getByText("The first call came").waitFor({ timeout: 60_000 });
    await page.getByRole("button", { name: "I have kept it" }).click();
    await page.getByRole("link", { name: "Messages" }).click();
    await page.getByText("The first mail").click();
    await page.getByText("captured in the local inbox").first().waitFor();
    await context.close();
  });

  test("the link works once", async () => {
    const page = await browser.newPage();
    await page.goto(`${localUrl(scene)}/console/welcome#${welcomeToken(scene)}`);
    await page.getByLabel("Your name").fill("Eve");
    await page.getByLabel("Email").fill("eve@example.com");
    await page.getByLabel("Password").fill("four other words there");
    await page.getByRole("textbox", { name: "Workspace" }).fill("Evil");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("alert").first().waitFor();
    expect(new URL(page.url()).pathname).toBe("/console/welcome");
    await page.close();
  });
});
