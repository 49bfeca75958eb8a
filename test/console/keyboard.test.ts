/** Journeys by keyboard alone: done, the focus always visible, never lost. */
import type { Page } from "playwright-core";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { isChromiumInstalled } from "#test/support/chromium.ts";
import { Keyboard } from "./keyboard.ts";
import { type ConsoleScene, openConsole, owner } from "./open-console.ts";
import { plainWords, seedWorkspace } from "./seed.ts";

const PATIENCE_MS = 180_000;

describe.skipIf(!isChromiumInstalled)("in a browser", () => {
  let scene: ConsoleScene;
  let page: Page;
  let keys: Keyboard;

  beforeAll(async () => {
    scene = await openConsole();
    await seedWorkspace(scene.scene, scene.workspace, plainWords);
  }, PATIENCE_MS);

  async function begin(isSignedIn: boolean, path: string): Promise<void> {
    const context = await scene.newContext({ isSignedIn });
    page = await context.newPage();
    keys = new Keyboard(page);
    await page.goto(`/console${path}`);
  }
  afterEach(() => page.context().close());

  test("sign in, and out", async () => {
    await begin(false, "/sign-in");
    await keys.expectFocus(page.getByLabel("Email"));
    await keys.type(owner.email);
    await keys.fill(page.getByLabel("Password"), owner.password);
    await keys.press("Enter");
    await page.getByRole("heading", { name: "Hello, Ada" }).waitFor();
    await keys.enter(page.getByRole("button", { name: `Account of ${owner.name}` }));
    await page
      .getByRole("menuitem", { name: "sign-out" })
      .or(page.getByRole("menuitem", { name: "Sign out" }))
      .waitFor();
    await keys.press("End");
    await keys.press("Enter");
    await page.getByRole("heading", { name: "Sign in to Posthaste" }).waitFor();
  });

  describe("signed in", () => {
    beforeEach(async () => {
      await begin(true, `/${scene.workspace}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
    });

    test("go to a page by its key, and to another by the palette", async () => {
      await keys.press("g");
      await keys.press("m");
      await page.getByRole("heading", { name: "Messages" }).waitFor();
      await keys.press("ControlOrMeta+k");
      await page.getByRole("dialog", { name: "Search everything" }).waitFor();
      await keys.type("API keys");
      await page
        .getByRole("menuitem", { name: /API keys/ })
        .or(page.getByRole("option", { name: /API keys/ }))
        .first()
        .waitFor();
      await keys.press("ArrowDown");
      await keys.press("Enter");
      await page.getByRole("heading", { name: "API keys" }).waitFor();
    });

    test("make a key", async () => {
      await keys.press("g");
      await keys.press("k");
      await keys.enter(page.getByRole("button", { name: "New key" }));
      await keys.expectFocus(page.getByLabel("Name", { exact: true }));
      await keys.type("Typed key");
      await keys.enter(page.getByRole("button", { name: "Make the key" }));
      await page.getByText(/^efk_\w+$/).waitFor();
      await keys.press("Escape");
      await page.getByText("Typed key").waitFor();
      await keys.requireVisibleFocus();
    });

    test("add a domain", async () => {
      await keys.press("g");
      await keys.press("d");
      await keys.enter(page.getByRole("button", { name: /add|new/i }).first());
      await keys.type("typed.example");
      await keys.press("Enter");
      await page.getByText("typed.example").first().waitFor();
    });

    test("skip to the page", async () => {
      await keys.press("Tab");
      await keys.expectFocus(page.getByRole("link", { name: "Skip to the page" }));
      await keys.press("Enter");
      expect(new URL(page.url()).hash).toBe("#page");
    });
  });
});
