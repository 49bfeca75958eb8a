/**
 * Every page looks as in its reference picture in `references/`: with data, empty, filtered, while it loads, when the API fails, and
 * for a role that may do nothing. `CONSOLE_TESTS=all npm test -- test/console/pictures.test.ts -u` takes the references again.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { BrowserContext, Page } from "playwright-core";
import sql from "sql-template-tag";
import { beforeAll, describe, expect, inject, test } from "vitest";
import type { WorkspaceId } from "#platform/ids.ts";
import { isChromiumInstalled } from "#test/support/chromium.ts";
import { signInPerson } from "#test/support/people.ts";
import { addressOf, isEvery, outside } from "./console-routes.ts";
import { allButTheFrame, allButTheSession, failing, failure } from "./failing-api.ts";
import { type ConsoleScene, openConsole } from "./open-console.ts";
import { type Box, fingerprintOf, layoutFaults, layoutOf } from "./page-layout.ts";
import { type Picture, pictures } from "./picture-list.ts";
import { differenceOf, readPixels, writePixels } from "./pixels.ts";
import { plainWords, type Seed, seedWorkspace } from "./seed.ts";
import { steadyPicture } from "./steady-page.ts";
import { WatchedPage } from "./watched-page.ts";

const PATIENCE_MS = 180_000;
/** Of the pixels of a picture. */
const MOST_DIFFERENT = 0.001;
/** A channel of a pixel may differ by this much; a reference has fewer colours than the page. */
const LEAST_DIFFERENCE = 10;
/** The client tries again before a page shows a failure. */
const MOST_WAIT_MS = 15_000;
/** Longer than the 150 ms after which a page shows what will come. */
const LATE_MS = 500;
const MOST_FILE_KB = 150;

const folder = new URL("references/", import.meta.url);
const fileOf = (name: string, kind = "png") => new URL(`${name}.${kind}`, folder);
const layoutsFile = new URL("layouts.json", folder);
const madeWith = new URL("made-with.txt", folder);
const layouts: Record<string, readonly Box[]> = existsSync(layoutsFile)
  ? JSON.parse(readFileSync(layoutsFile, "utf8"))
  : {};
const asksToRenew = inject("renews");
/** The references, their layouts and what drew them belong together. */
const renews = asksToRenew && isEvery;

const screens = { desk: { width: 1280, height: 800 }, phone: { width: 375, height: 720 } } as const;
const isOutside = (page: string) => outside.some((one) => one === page.split("#")[0]);

test.skipIf(asksToRenew)("every reference is of a picture in the list, and small", () => {
  const files = readdirSync(folder).filter((name) => /(?<!\.now)\.png$/.test(name));
  expect(files.sort()).toEqual(pictures.map(({ name }) => `${name}.png`).sort());
  expect(files.filter((name) => readFileSync(new URL(name, folder)).length > MOST_FILE_KB * 1024)).toEqual(
    [],
  );
});

test.runIf(asksToRenew && !renews)("references are renewed together", () => {
  expect.fail("-u renews the references only with CONSOLE_TESTS=all, because they belong together");
});

// They take minutes, and are compared where they were drawn.
describe.skipIf(!isChromiumInstalled || !isEvery)("in a browser", () => {
  let scene: ConsoleScene;
  let seed: Seed;
  let empty: Seed;
  let fingerprint: string;
  /** Whether the browser and the fonts are those of the references; elsewhere only layouts can be the same. */
  let isSameMachine: boolean;
  const contexts = new Map<string, BrowserContext>();

  beforeAll(async () => {
    scene = await openConsole();
    seed = await seedWorkspace(scene.scene, scene.workspace, plainWords);
    const { body } = await scene.callAsOwner()("POST", "/workspaces", { name: "Empty", plan: "enterprise" });
    empty = { workspace: body.data.id, ids: {} };
    const context = await scene.newContext({ isSignedIn: false });
    const page = await context.newPage();
    await page.goto("/console/sign-in", { waitUntil: "load" });
    await page.locator("h1").waitFor();
    fingerprint = await fingerprintOf(page);
    await context.close();
    isSameMachine = existsSync(madeWith) && readFileSync(madeWith, "utf8").trim() === fingerprint;
  }, PATIENCE_MS);

  /** Whose browser it is, with its look: one for all pictures that share them. */
  async function contextOf({ page: where, state, screen, theme }: Picture): Promise<BrowserContext> {
    const isSignedIn = !isOutside(where);
    const look = { viewport: screens[screen], colorScheme: theme, timezoneId: "Europe/Paris" } as const;
    const key = [isSignedIn, state === "lacking", screen, theme].join();
    const known = contexts.get(key);
    if (known) return known;
    const session = state === "lacking" ? { session: await newGuest() } : {};
    const context = await scene.newContext({ ...look, ...session, isSignedIn });
    contexts.set(key, context);
    // The font is optional: a page shows it if it is there at once, from the cache.
    const page = await context.newPage();
    await page.goto(`/console/${isSignedIn ? "" : where}`, { waitUntil: "networkidle" });
    await page.close();
    return context;
  }

  /** The session of a person whose role may read what no page shows. */
  async function newGuest(): Promise<string> {
    const { database, program } = scene.scene;
    const where = { database, url: () => program.url, now: new Date() };
    const { token, userId } = await signInPerson(where, seed.workspace as WorkspaceId, ["validations:read"]);
    await database.run(sql`
      update roles set name = 'Guest'
      where id = (select role_id from workspace_members where user_id = ${userId})`);
    return token;
  }

  async function take(picture: Picture): Promise<{ readonly png: Buffer; readonly layout: readonly Box[] }> {
    const { page: where, state, screen } = picture;
    const watched = await WatchedPage.open(await contextOf(picture));
    const { page } = watched;
    try {
      await page.setViewportSize(screens[screen]);
      // Jobs that have just ended are shown for a while; no answer is no lost connection.
      await page.route(/\/api\/v1\/events/, () => {});
      if (state === "failing") await page.route(allButTheSession, failing);
      // The page waits until the test has ended.
      if (state === "late") await page.route(allButTheFrame, () => {});
      const address = isOutside(where) ? `/${where}` : addressOf(where, state === "empty" ? empty : seed);
      await page.goto(`/console${address}`, { waitUntil: "load" });
      await page.locator("h1").first().waitFor({ state: "attached", timeout: MOST_WAIT_MS });
      if (state === "late") await delay(LATE_MS);
      else await watched.settled();
      if (state === "failing") await page.getByText(failure).first().waitFor({ timeout: MOST_WAIT_MS });
      if (state === "data" && where.startsWith("campaigns/$campaign")) await editorReady(page, screen);
      const png = await steadyPicture(page, state === "data");
      return { png, layout: await layoutOf(page) };
    } finally {
      await page.close();
    }
  }

  /** Its people are counted and its preview is rendered after the rest has come. */
  async function editorReady(page: Page, screen: Picture["screen"]): Promise<void> {
    await page.getByText("30 people").first().waitFor({ state: "attached", timeout: MOST_WAIT_MS });
    if (screen === "phone") return;
    await page.frameLocator("iframe").getByRole("heading").first().waitFor({ timeout: MOST_WAIT_MS });
  }

  test.each(pictures)("$name", { timeout: 60_000 }, async (picture) => {
    const { png, layout } = await take(picture);
    const { name } = picture;
    if (!isSameMachine && !renews) {
      const faults = layoutFaults(layouts[name] ?? [], layout);
      return expect(faults, faults.join("\n")).toEqual([]);
    }
    const pixels = readPixels(png);
    const reference = fileOf(name);
    const now = fileOf(name, "now.png");
    await rm(now, { force: true });
    const known = existsSync(reference) ? readPixels(await readFile(reference)) : undefined;
    const different = known ? differenceOf(known, pixels, LEAST_DIFFERENCE) : 1;
    if (renews) layouts[name] = layout;
    if (different <= MOST_DIFFERENT) return;
    await writeFile(renews ? reference : now, writePixels(pixels));
    if (!renews) expect.fail(`${(different * 100).toFixed(2)} % of the pixels differ: see ${now.pathname}`);
  });

  test.runIf(renews)("the layouts and what drew the pictures are recorded", async () => {
    const sorted = Object.entries(layouts).sort(([one], [other]) => (one < other ? -1 : 1));
    const lines = sorted.map(([name, boxes]) => `  ${JSON.stringify(name)}: ${JSON.stringify(boxes)}`);
    await writeFile(layoutsFile, `{\n${lines.join(",\n")}\n}\n`);
    await writeFile(madeWith, `${fingerprint}\n`);
  });
});
