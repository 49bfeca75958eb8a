/** Live states: one stream of events for all tabs of a browser, and the next tab takes over. */
import type { BrowserContext, Page, Request } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { isChromiumInstalled } from "#test/support/chromium.ts";
import { eventually } from "#test/support/eventually.ts";
import { type ConsoleScene, openConsole } from "./open-console.ts";
import { WatchedPage } from "./watched-page.ts";

const TABS = 4;
const SOON_MS = 15_000;
const PATIENCE_MS = 180_000;

/** The streams that a browser has open, in all its tabs. */
function openStreams(context: BrowserContext): ReadonlySet<Request> {
  const streams = new Set<Request>();
  context.on("request", (request) => {
    if (new URL(request.url()).pathname === "/api/v1/events") streams.add(request);
  });
  const forget = (request: Request) => streams.delete(request);
  context.on("requestfinished", forget).on("requestfailed", forget);
  // The requests of a page that is closed end without an event.
  context.on("page", (page) =>
    page.on("close", () => {
      for (const request of streams) if (request.frame().page() === page) streams.delete(request);
    }),
  );
  return streams;
}

/** The button that says how many rows came since the page was loaded. */
const newRows = (page: Page) => page.getByRole("button", { name: /\bnew$/ });

/** The numbers of the tabs that do not say in time that there is a new message. */
async function tabsWithout(tabs: readonly WatchedPage[]): Promise<number[]> {
  const seen = await Promise.all(
    tabs.map(({ page }) =>
      newRows(page)
        .waitFor({ timeout: SOON_MS })
        .then(
          () => true,
          () => false,
        ),
    ),
  );
  return seen.flatMap((isSeen, at) => (isSeen ? [] : [at]));
}

describe.skipIf(!isChromiumInstalled)("in a browser", () => {
  let scene: ConsoleScene;
  beforeAll(async () => {
    scene = await openConsole();
  }, PATIENCE_MS);

  test(
    "all tabs share one stream, each shows what it tells, and the next tab takes over",
    async () => {
      const context = await scene.newContext();
      const streams = openStreams(context);
      const address = `/console/${scene.workspace}/messages`;
      const tabs: WatchedPage[] = [];
      for (let tab = 0; tab < TABS; tab += 1) {
        const watched = await WatchedPage.open(context);
        await watched.visit(address);
        tabs.push(watched);
      }
      await eventually("one stream", async () => streams.size === 1);
      await scene.scene.send("first@example.com");
      expect(await tabsWithout(tabs)).toEqual([]);
      expect([...streams]).toHaveLength(1);

      const [leader, ...others] = tabs;
      await leader?.page.close();
      await eventually("the next tab's stream", async () => streams.size === 1);
      await Promise.all(others.map(({ page }) => newRows(page).click()));
      await scene.scene.send("second@example.com");
      expect(await tabsWithout(others)).toEqual([]);
      expect([...streams]).toHaveLength(1);
      await context.close();
    },
    PATIENCE_MS,
  );

  test(
    "while sending is held every page says so and what ends it, from the hold to the release",
    async () => {
      const context = await scene.newContext();
      const watched = await WatchedPage.open(context);
      await watched.visit(`/console/${scene.workspace}/messages`);
      const band = watched.page.getByRole("status").filter({ hasText: "Sending is held" });
      await scene.scene.program.command("sending", "hold");
      await band.waitFor({ timeout: SOON_MS });
      for (const page of ["lists", "campaigns"]) {
        await watched.visit(`/console/${scene.workspace}/${page}`);
        expect(await band.textContent()).toContain("posthaste -- sending release");
        expect([...(await watched.axe()), ...(await watched.overflow())]).toEqual([]);
      }
      await scene.scene.program.command("sending", "release");
      await band.waitFor({ state: "detached", timeout: SOON_MS });
      await context.close();
    },
    PATIENCE_MS,
  );
});
