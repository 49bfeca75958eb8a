/** What axe finds in a page, by WCAG 2.2 A and AA and its best practice. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const options = {
  resultTypes: ["violations"],
  runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
  // 24 px, or as much room around; off by default.
  rules: { "target-size": { enabled: true } },
  // Mails in frames have no scripts, so that axe cannot run in them.
  iframes: false,
};

/** A line for each element. */
export async function axeFindings(page: Page): Promise<string[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(source);
  return page.evaluate<string[]>(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
    violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ html, any, all, none }) => [id, help, html.slice(0, 160),
        [...any, ...all, ...none].map(({ message }) => message).join(" ").slice(0, 160)].join(" · "))))`);
}
