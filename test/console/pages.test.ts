/** Every page of the console with data, in light and dark, on a desk and on a phone: what holds for all of them. */
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { isChromiumInstalled } from "#test/support/chromium.ts";
import {
  addressOf,
  heavyPages,
  inside,
  isEvery,
  linked,
  MOST_PAGE_KB,
  outside,
  overlays,
  routedPaths,
  views,
} from "./console-routes.ts";
import { type ConsoleScene, openConsole } from "./open-console.ts";
import { plainWords, type Seed, seedWorkspace } from "./seed.ts";
import { kilobytes, type LoadedFile, WatchedPage } from "./watched-page.ts";

/** Compressed, over the network, with an empty cache. */
const MOST_FIRST_JS_KB = 210;
const MOST_CSS_KB = 20;
const MOST_FONTS_KB = 60;
const MOST_SHIFT = 0.02;
const PATIENCE_MS = 180_000;

const screens = [
  { name: "desk", viewport: { width: 1280, height: 800 } },
  { name: "phone", viewport: { width: 375, height: 720 } },
] as const;
/** Of each page a part of the matrix has a light desk and a dark phone. */
const themesOn = { desk: ["light"], phone: ["dark"] } as const;
const themes = ["light", "dark"] as const;

/** Visitors have no session and no token; the browser calls the API's answer to that an error. */
const isNoRefusal = (error: string) => !/^Failed to load resource: .*\b4\d\d\b/.test(error);

test("every page of the console is in the list of the tests", () => {
  expect([...new Set(routedPaths())].sort()).toEqual([...outside, ...inside].sort());
});

describe.skipIf(!isChromiumInstalled)("in a browser", () => {
  let scene: ConsoleScene;
  let seed: Seed;
  /** The scripts of Home, which every page has. */
  let shared: ReadonlySet<string>;

  beforeAll(async () => {
    scene = await openConsole();
    seed = await seedWorkspace(scene.scene, scene.workspace, plainWords);
    const files = await loadCold(addressOf("", seed));
    shared = new Set(files.map(({ path }) => path));
  }, PATIENCE_MS);

  // A test that fails leaves its own open, and one person's streams of events are limited.
  afterEach(() => Promise.all(scene.browser.contexts().map((context) => context.close())));

  /** What a browser loads that has never been here. */
  async function loadCold(path: string, isSignedIn = true): Promise<readonly LoadedFile[]> {
    const context = await scene.newContext({ isSignedIn });
    const { page, files, ...watched } = await openedIn(context, path);
    const errors = isSignedIn ? watched.errors : watched.errors.filter(isNoRefusal);
    expect([errors, watched.foreign]).toEqual([[], []]);
    await page.context().close();
    return files;
  }
  async function openedIn(context: Awaited<ReturnType<ConsoleScene["newContext"]>>, path: string) {
    const watched = await WatchedPage.open(context);
    await watched.visit(`/console${path}`);
    return watched;
  }

  test.each([
    ["the sign-in", "/sign-in", false],
    ["Home", "", true],
  ])("the first load of %s is small", async (_, path, isSignedIn) => {
    const files = await loadCold(isSignedIn ? addressOf("", seed) : path, isSignedIn);
    expect(kilobytes(files, "Script")).toBeGreaterThan(50);
    expect(kilobytes(files, "Script")).toBeLessThanOrEqual(MOST_FIRST_JS_KB);
    expect(kilobytes(files, "Stylesheet")).toBeLessThanOrEqual(MOST_CSS_KB);
    expect(kilobytes(files, "Font")).toBeLessThanOrEqual(MOST_FONTS_KB);
  });

  const pages = [
    ...[...outside, ...linked].map((page) => ({ page, isSignedIn: false })),
    ...views.map((page) => ({ page, isSignedIn: true })),
  ];
  describe.each(pages)("/$page", ({ page: name, isSignedIn }) => {
    const address = () => (isSignedIn ? addressOf(name, seed) : `/${name}`);

    test.each(screens)("has no fault on a $name", async ({ name: screen, viewport }) => {
      const context = await scene.newContext({
        viewport,
        isSignedIn,
        colorScheme: isEvery ? "light" : themesOn[screen][0],
      });
      const watched = await openedIn(context, address());
      const faults: string[] = [];
      const note = (kind: string, found: readonly string[]) =>
        faults.push(...found.map((one) => `${kind}: ${one}`));
      const look = async (what: string) => {
        for (const colorScheme of isEvery ? themes : themesOn[screen]) {
          await watched.page.emulateMedia({ colorScheme });
          note(`${colorScheme} ${what}`, await watched.axe());
          note(`${colorScheme} ${what}`, await watched.overflow());
        }
      };
      // A new context has loaded nothing before.
      const own = watched.files.filter(({ path }) => !shared.has(path));
      const loaded = kilobytes(own, "Script");
      await look("page");
      const { shift, moved } = await watched.seen();
      const opener = overlays[name];
      if (opener !== undefined && (isEvery || screen === "desk")) {
        await watched.page.getByRole("button", { name: opener, exact: true }).first().click();
        await watched.page.getByRole("dialog").or(watched.page.getByRole("menu")).first().waitFor();
        await watched.settled();
        await look("overlay");
        await watched.page.keyboard.press("Escape");
      }
      const { violations } = await watched.seen();
      note("error", isSignedIn ? watched.errors : watched.errors.filter(isNoRefusal));
      note("foreign", watched.foreign);
      note("policy", violations);
      if (shift > MOST_SHIFT) note(`moved by ${shift.toFixed(3)}`, moved);
      const headings = await watched.headings();
      await context.close();
      expect(faults, faults.join("\n")).toEqual([]);
      expect(headings).toHaveLength(1);
      expect(loaded).toBeLessThanOrEqual(heavyPages[name] ?? MOST_PAGE_KB);
    });
  });
});
