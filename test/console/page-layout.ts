/** Where a page has its headings and controls: what can be compared between machines whose fonts draw other pixels. */
import { createHash } from "node:crypto";
import type { Page } from "playwright-core";
import { readPixels } from "./pixels.ts";

/** The words of a heading or control, its left and top edge, its width and height. */
export type Box = readonly [text: string, x: number, y: number, width: number, height: number];

/** Fonts of other widths move what is beside a text. */
const MOST_MOVED_PX = 24;
const MOST_BOXES = 60;

const layoutScript = `[...document.querySelectorAll("h1, h2, h3, th, label, button, nav a, main a")]
  .filter((element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
  .map((element) => [element, element.getBoundingClientRect()])
  .filter(([, { top, left }]) => top >= 0 && left >= 0 && top < innerHeight && left < innerWidth)
  .slice(0, ${MOST_BOXES})
  .map(([element, { x, y, width, height }]) => [
    (element.ariaLabel ?? element.innerText).trim().slice(0, 40), ...[x, y, width, height].map(Math.round)])`;

/** Call after the texts are steady. */
export function layoutOf(page: Page): Promise<readonly Box[]> {
  return page.evaluate<readonly Box[]>(layoutScript);
}

/** A line for each heading or control that is elsewhere, missing or new. */
export function layoutFaults(known: readonly Box[], now: readonly Box[]): string[] {
  const words = (boxes: readonly Box[]) => boxes.map(([text]) => text).join(" | ");
  if (words(known) !== words(now)) return [`expected: ${words(known)}`, `found: ${words(now)}`];
  return known.flatMap(([text, ...numbers], at) => {
    const [, ...others] = now[at] ?? ["", 0, 0, 0, 0];
    const isNear = numbers.every((number, place) => Math.abs(number - (others[place] ?? 0)) <= MOST_MOVED_PX);
    return isNear ? [] : [`${text}: ${numbers.join()} is now ${others.join()}`];
  });
}

const sample = [
  ["normal 13px 'Inter Variable'", "Rechtsschutz 0123456789 fi – “quoted” …"],
  ["600 20px 'Inter Variable'", "Rechtsschutz 0123456789"],
  ["normal 13px ui-monospace, monospace", "v=DKIM1; k=rsa 0O1lI"],
  ["normal 10px 'Inter Variable'", "● ◐ ▲ ■ ○"],
];

/** What makes the same page the same pixels: the browser and how it draws the fonts. The page, one of the console, is lost. */
export async function fingerprintOf(page: Page): Promise<string> {
  await page.evaluate(`(async () => {
    await document.fonts.load("13px 'Inter Variable'");
    document.body.replaceChildren(...${JSON.stringify(sample)}.map(([font, text]) => {
      const line = document.createElement("p");
      line.style.font = font;
      line.textContent = text;
      return line;
    }));
  })()`);
  const { rgba } = readPixels(await page.screenshot({ clip: { x: 0, y: 0, width: 480, height: 160 } }));
  const colours = rgba.filter((_, at) => at % 4 !== 3);
  const drawn = createHash("sha256").update(colours).digest("hex").slice(0, 16);
  return `${page.context().browser()?.browserType().name()} ${page.context().browser()?.version()}, fonts ${drawn}`;
}
