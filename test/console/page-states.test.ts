/** Every page of the console without data, while its data comes late, and when the API fails. */
import { setTimeout as delay } from "node:timers/promises";
import type { BrowserContextOptions, Route } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { isChromiumInstalled } from "#test/support/chromium.ts";
import { addressOf, inside, isEvery } from "./console-routes.ts";
import { allButTheSession, failing, failure } from "./failing-api.ts";
import { type ConsoleScene, openConsole } from "./open-console.ts";
import { plainWords, type Seed, seedWorkspace } from "./seed.ts";
import { WatchedPage } from "./watched-page.ts";

const MOST_SHIFT = 0.02;
/** Longer than the 150 ms after which a page shows what will come. */
const LATE_MS = 400;
/** The client tries again before a page shows a failure. */
const MOST_WAIT_MS = 15_000;
const PATIENCE_MS = 180_000;

const desk: BrowserContextOptions = { viewport: { width: 1280, height: 800 }, colorScheme: "light" };
const phone: BrowserContextOptions = { viewport: { width: 375, height: 720 }, colorScheme: "dark" };
const pages = isEvery ? inside : (["", "campaigns", "lists/$list", "messages", "messages/$message"] as const);
const withoutIds = pages.filter((page) => !page.includes("$"));

describe.skipIf(!isChromiumInstalled)("in a browser", () => {
  let scene: ConsoleScene;
  let seed: Seed;
  let empty: Seed;

  beforeAll(async () => {
    scene = await openConsole();
    seed = await seedWorkspace(scene.scene, scene.workspace, plainWords);
    const { body } = await scene.callAsOwner()("POST", "/workspaces", { name: "Empty", plan: "enterprise" });
    empty = { workspace: body.data.id, ids: {} };
  }, PATIENCE_MS);

  /** The faults of a page in one look, after `prepare` has seen to what the API answers. */
  async function faultsOf(
    path: string,
    look: BrowserContextOptions,
    prepare: (route: Route) => Promise<void> = (route) => route.continue(),
    expected = "",
  ): Promise<string[]> {
    const context = await scene.newContext(look);
    try {
      const watched = await WatchedPage.open(context);
      await watched.page.route(allButTheSession, prepare);
      await watched.page.goto(`/console${path}`, { waitUntil: "load" });
      await watched.page.locator("#root > *").first().waitFor({ state: "attached" });
      if (prepare === late) await delay(LATE_MS / 2);
      else await watched.settled();
      if (expected !== "") await watched.page.getByText(expected).first().waitFor({ timeout: MOST_WAIT_MS });
      const faults = [...(await watched.axe()), ...(await watched.overflow())];
      if (prepare === late) await watched.settled();
      const { shift, moved, violations } = await watched.seen();
      if (shift > MOST_SHIFT) faults.push(`moved by ${shift.toFixed(3)}: ${moved.join(" | ")}`);
      const isOurs = (error: string) => prepare !== failing || !error.includes("500");
      return [...faults, ...violations, ...watched.foreign, ...watched.errors.filter(isOurs)];
    } finally {
      await context.close();
    }
  }

  async function late(route: Route): Promise<void> {
    await delay(LATE_MS);
    // The page may have gone on meanwhile.
    await route.continue().catch(() => {});
  }

  const none = (faults: readonly string[]) => expect(faults, faults.join("\n")).toEqual([]);

  test.each(withoutIds)("/%s without data has no fault", async (page) => {
    none(await faultsOf(addressOf(page, empty), desk));
  });

  test.each(pages)("/%s keeps its place while its data comes late", async (page) => {
    none(await faultsOf(addressOf(page, seed), phone, late));
  });

  test("a refusal of fields names them in words, and not as programs do", async () => {
    const details = [
      { field: "from_email", message: "from_email must be an address" },
      { field: "steps[1].html_content", message: "steps[1].html_content is required" },
    ];
    const error = details.map(({ message }) => message).join("; ");
    const refuse = (route: Route) =>
      route.fulfill({
        status: 400,
        contentType: "application/json",
        body: JSON.stringify({ success: false, error, code: "VALIDATION_ERROR", details, request_id: "1" }),
      });
    const context = await scene.newContext(desk);
    const watched = await WatchedPage.open(context);
    await watched.page.route(allButTheSession, refuse);
    await watched.page.goto(`/console${addressOf("lists", seed)}`);
    const shown = watched.page.getByRole("main").getByRole("alert").first();
    await shown.waitFor({ timeout: MOST_WAIT_MS });
    expect((await shown.innerText()).split("\n").filter((line) => line.includes(":"))).toEqual([
      "From email: It must be an address",
      "Steps 2 html content: It is required",
    ]);
    none(await watched.axe());
    await context.close();
  });

  test.each(pages)("/%s says what the API says when it fails", async (page) => {
    none(await faultsOf(addressOf(page, seed), desk, failing, failure));
  });
});
