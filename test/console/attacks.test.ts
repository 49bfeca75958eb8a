/** Names, subjects and fields with markup in every page: nothing of it runs, loads or becomes an element. */
import { beforeAll, describe, expect, test } from "vitest";
import { isChromiumInstalled } from "#test/support/chromium.ts";
import { addressOf, inside } from "./console-routes.ts";
import { type ConsoleScene, openConsole } from "./open-console.ts";
import { type Seed, seedWorkspace, type Words } from "./seed.ts";
import { WatchedPage } from "./watched-page.ts";

const PATIENCE_MS = 180_000;
const note = (place: string) => `__seen.ran.push('${place}')`;
const corpus: readonly ((place: string) => string)[] = [
  (place) => `<script>${note(place)}</script>`,
  (place) => `<img src=x onerror="${note(place)}">`,
  (place) => `"><svg onload="${note(place)}">`,
  (place) => `' autofocus onfocus="${note(place)}" x='`,
  (place) => `javascript:${note(place)}//`,
  (place) => `</title></textarea></style><iframe srcdoc="<script>parent.${note(place)}</script>">`,
  (place) => `{{constructor.constructor("${note(place)}")()}} \${${note(place)}}`,
  () => `<link rel=stylesheet href=//attacker.test/x.css><base href=//attacker.test>`,
  () => `=HYPERLINK("http://attacker.test","x")`,
  () => `‮gnp.exe <meta http-equiv=refresh content="0;url=//attacker.test">`,
];
/** Each place has a text of its own, and places with several things have all of them. */
const attackWords: Words = (place, number) => {
  const shift = Array.from(place).reduce((sum, letter) => sum + letter.charCodeAt(0), 0);
  const text = corpus[(shift + number) % corpus.length];
  return `${text?.(place.replaceAll(/\W/g, ""))} ${place} ${number}`;
};
/** What markup of the corpus would leave in a page. */
const strange =
  "iframe:not([src^='/previews/']), base, meta[http-equiv], link[href*=attacker], img[src=x], svg[onload], [onerror], [onfocus]";

describe.skipIf(!isChromiumInstalled)("in a browser", () => {
  let scene: ConsoleScene;
  let seed: Seed;

  beforeAll(async () => {
    scene = await openConsole();
    seed = await seedWorkspace(scene.scene, scene.workspace, attackWords);
  }, PATIENCE_MS);

  test.each(inside)("/%s shows the attack corpus as text", async (page) => {
    const context = await scene.newContext();
    const watched = await WatchedPage.open(context);
    const dialogs: string[] = [];
    watched.page.on("dialog", (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    const address = `/console${addressOf(page, seed)}`;
    await watched.visit(address);
    const { ran, violations } = await watched.seen();
    const elements = await watched.page
      .locator(strange)
      .evaluateAll((found: readonly { outerHTML: string }[]) => found.map((one) => one.outerHTML));
    const { pathname } = new URL(watched.page.url());
    await context.close();
    expect({ ran, violations, dialogs, elements, foreign: watched.foreign }).toEqual({
      ran: [],
      violations: [],
      dialogs: [],
      elements: [],
      foreign: [],
    });
    expect(pathname.replace(/\/$/, "")).toBe(address.replace(/\/$/, ""));
  });
});
