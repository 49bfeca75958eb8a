/**
 * What an open page shows, without what every run changes: times, ids, keys and ports are written over with texts of the same
 * kind. Run in the page as texts.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "playwright-core";

/** In this order. The replacement has the width of what people see there. */
const changing: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "0190a1b2-0000-7000-8000-000000000000"],
  [/\b[0-9a-f]{32,}\b/g, "0123456789abcdef0123456789abcdef"],
  [/\befk_\w{4,}/g, "efk_0123abcd"],
  [/\bp=[\w+/=]{40,}/g, "p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA"],
  [/\b(localhost|127\.0\.0\.1):\d+/g, "$1:8080"],
  [/\b(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b/g, "Tuesday"],
  [/\b\d{4}-\d\d-\d\d\b/g, "2026-03-03"],
  [
    /\b\d{1,2} (January|February|March|April|May|June|July|August|September|October|November|December)\b/g,
    "3 March",
  ],
  [/\b\d{1,2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b( \d{4})?/g, "3 Mar$2"],
  [/\b\d\d:\d\d:\d\d\b/g, "09:00:00"],
  [/(?<!:)\b\d\d:\d\d\b(?!:)/g, "09:00"],
  [/\b(CES?T|UTC|GMT)([+-]\d+)?\b/g, "CET"],
  [/\bin \d+ (sec|min|hr)\b/g, "in 5 $1"],
  [/\b\d+ (sec|min|hr)\. ago\b|^now$/g, "5 min. ago"],
  [/\b\d+(\.\d+)? (ms|s|seconds?)\b/g, "12 $2"],
];

const steadyScript = `{
  const changing = [${changing.map(([pattern, text]) => `[${pattern}, ${JSON.stringify(text)}]`).join(", ")}];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = changing.reduce((words, [pattern, steady]) => words.replace(pattern, steady), node.nodeValue);
    if (text !== node.nodeValue) node.nodeValue = text;
  }
}`;

/** How far the page itself can be scrolled down. */
const restScript = `(() => {
  const page = document.querySelector("main#page") ?? document.documentElement;
  return page.scrollHeight - page.clientHeight;
})()`;

const MOST_HEIGHT = 1_800;

const MOST_TAKES = 10;
const BETWEEN_MS = 150;

/** A picture, PNG, of the window, or of the whole page up to a limit. It is taken until two are the same. */
export async function steadyPicture(page: Page, isWhole: boolean): Promise<Buffer> {
  const size = page.viewportSize();
  const rest = isWhole ? await steadyRest(page) : 0;
  if (size && rest > 0)
    await page.setViewportSize({ ...size, height: Math.min(MOST_HEIGHT, size.height + rest) });
  let last = await shotOf(page);
  for (let takes = 1; takes < MOST_TAKES; takes++) {
    await delay(BETWEEN_MS);
    const next = await shotOf(page);
    if (next.equals(last)) break;
    last = next;
  }
  return last;
}

/** With the steady texts, which break lines elsewhere than those of this run, and not while parts still come. */
async function steadyRest(page: Page): Promise<number> {
  let last = Number.NaN;
  for (let looks = 0; looks < MOST_TAKES; looks++) {
    await page.evaluate(steadyScript);
    const rest = await page.evaluate<number>(restScript);
    if (rest === last) break;
    last = rest;
    await delay(BETWEEN_MS);
  }
  return last;
}

async function shotOf(page: Page): Promise<Buffer> {
  await page.evaluate(steadyScript);
  return page.screenshot({ animations: "disabled", caret: "hide" });
}
