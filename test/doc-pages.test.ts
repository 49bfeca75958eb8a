/**
 * The pages for people (README.md, CHANGELOG.md, docs/ and the like): what they link to and name exists, what comments cite in them
 * exists, and no paragraph or table cell is too long to be read.
 */
import { access, readdir, readFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { endpointsForDocs } from "#processes/api.ts";
import { generatedFiles } from "../src/generated-files.ts";

/** Characters, as a reader sees them: the targets of links do not count. */
const LONGEST_PARAGRAPH = 500;
const LONGEST_CELL = 300;

const root = fileURLToPath(new URL("../", import.meta.url));
const generated = new Set([...generatedFiles(endpointsForDocs())].map(([path]) => path));

async function namesIn(folder: string, ending: RegExp): Promise<string[]> {
  const entries = await readdir(join(root, folder), { recursive: true });
  return entries.filter((name) => ending.test(name)).map((name) => join(folder, name));
}

const pages = [
  "README.md",
  "ARCHITECTURE.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "clients/typescript/README.md",
  ...(await namesIn("docs", /\.md$/)),
].sort();
const textOf = (path: string) => readFile(join(root, path), "utf8");
const exists = (path: string) =>
  access(join(root, path)).then(
    () => true,
    () => false,
  );

/** Lines outside of code blocks. */
function proseOf(text: string): string[] {
  let isCode = false;
  return text.split("\n").filter((line) => {
    const isFence = /^\s*```/.test(line);
    if (isFence) isCode = !isCode;
    return !isCode && !isFence;
  });
}

/** The anchors that GitHub gives the headings of a page. */
async function anchorsOf(path: string): Promise<Set<string>> {
  const headings = proseOf(await textOf(path)).flatMap((line) => /^#+ (.*)/.exec(line)?.[1] ?? []);
  return new Set(
    headings.map((heading) =>
      heading
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

/** Whether a file is there and, where an anchor is named, the page has that heading. */
async function isThere(path: string, anchor: string | undefined): Promise<boolean> {
  if (!(await exists(path))) return false;
  return anchor === undefined || !path.endsWith(".md") || (await anchorsOf(path)).has(anchor);
}

async function missingOf(targets: readonly { path: string; anchor?: string | undefined; as: string }[]) {
  const found = await Promise.all(targets.map(({ path, anchor }) => isThere(path, anchor)));
  return targets.filter((_, at) => !found[at]).map(({ as }) => as);
}

/** The targets of the page's links within the repository. */
function linksOf(page: string, text: string) {
  const targets = Array.from(
    proseOf(text)
      .join("\n")
      .matchAll(/\]\(([^)\s]+)\)/g),
    ([, target = ""]) => target,
  );
  return targets
    .filter((target) => !/^(?:https?|mailto):/.test(target))
    .map((target) => {
      const [file = "", anchor] = target.split("#");
      return { path: file === "" ? page : normalize(join(dirname(page), file)), anchor, as: target };
    });
}

/** Code spans that look like the path of a file or a folder (with a slash at its end) of the repository. */
function pathsNamedIn(text: string): string[] {
  const spans = Array.from(
    proseOf(text)
      .join("\n")
      .matchAll(/`([^`\n]+)`/g),
    ([, span = ""]) => span,
  );
  return spans.filter((span) =>
    /^#?[\w-]+(?:\/[\w.-]+)*\/[\w.-]+\.(?:ts|sql|json|js|sh|py)$|^[\w-]+(?:\/[\w-]+)+\/$/.test(span),
  );
}

/** What pages quote of the program's logs, errors and answers: the part of each that is written in one piece. */
const quotes: readonly (readonly [page: string, text: string])[] = [
  ["docs/api.md", "is not a known field and was ignored"],
  ["docs/api.md", "still running"],
  ["docs/audience.md", "This list takes no more sign-ups"],
  ["docs/billing.md", "payment received but not credited"],
  ["docs/campaigns.md", "The subscriber was deleted"],
  ["docs/delivery.md", "demands secure TLS"],
  ["docs/delivery.md", "the server accepts mail only over TLS"],
  ["docs/identity.md", "A workspace of this service"],
  ["docs/import-export.md", "An import of this file would be refused"],
  ["docs/import-export.md", "The import has started"],
  ["docs/inbound.md", "A count is missing, negative, a fraction or too large."],
  ["docs/inbound.md", "The archive is damaged."],
  ["docs/monitoring.md", "delivery process exited"],
  ["docs/monitoring.md", "recurring task failed"],
  ["docs/monitoring.md", "request failed"],
  ["docs/monitoring.md", "slow after a reply about reputation"],
  ["docs/operations.md", "All migrations are applied."],
  ["docs/operations.md", "All settings can be read."],
  ["docs/install.md", "the console could not be built"],
  ["docs/install.md", "the console was built"],
  ["docs/operations.md", "is in use by another program"],
  ["docs/operations.md", "PostgreSQL runs"],
  ["docs/production.md", "All migrations are applied."],
  ["docs/routing.md", "no delivery machine has the sending IP"],
  ["docs/segments.md", "is being deleted"],
  ["docs/sms.md", "No SMS gateway is configured"],
  ["docs/submission.md", "Too many large messages of this workspace are being accepted"],
  ["docs/tracking.md", "is not an alias: add the CNAME record"],
  ["docs/troubleshooting.md", "DATABASE_URL needs version 16 or newer"],
  ["docs/troubleshooting.md", "PostgreSQL did not start: "],
  [
    "docs/troubleshooting.md",
    "Processes of a killed PostgreSQL still use its data: end them and start again.",
  ],
  ["docs/troubleshooting.md", "The hourly cap of "],
  ["docs/troubleshooting.md", "There is not enough disk space for this file: retry later"],
  ["docs/troubleshooting.md", "This link does not work"],
  ["docs/troubleshooting.md", "Too many requests; slow down and retry"],
  ["docs/troubleshooting.md", "background job could not be run"],
  ["docs/troubleshooting.md", "captured in the local inbox"],
  ["docs/troubleshooting.md", "delivery process exited, restarting it"],
  ["docs/troubleshooting.md", "delivery results could not be written, trying again"],
  ["docs/troubleshooting.md", "is in use by another program. Stop it, or set another"],
  ["docs/troubleshooting.md", "job runner ended, restarting it"],
  ["docs/troubleshooting.md", "listening for inbound mail"],
  ["docs/troubleshooting.md", "message failed: it could not be composed or sent"],
  ["docs/troubleshooting.md", "sending domain lost its verification: its DNS records are still missing"],
  ["docs/troubleshooting.md", "the console could not be built"],
  ["docs/troubleshooting.md", "the database belongs to another secret key than this machine has"],
  ["docs/troubleshooting.md", "was applied to the database with another content"],
  ["docs/troubleshooting.md", ": run the newer version"],
  ["docs/validations.md", "The list of disposable domains has"],
  ["docs/validations.md", "The validation has started"],
];

describe("a page", () => {
  test("quotes texts that the program has", async () => {
    const names = (await namesIn("src", /\.(?:ts|json)$/)).filter((name) => !name.endsWith(".test.ts"));
    const sources = await Promise.all(names.map(textOf));
    const stale: string[] = [];
    for (const [page, text] of quotes) {
      if (!(await textOf(page)).includes(text)) stale.push(`${page} does not quote "${text}" any more`);
      if (!sources.some((source) => source.includes(text))) stale.push(`the program does not say "${text}"`);
    }
    expect(stale).toEqual([]);
  });

  test.each(pages)("links to files and headings that exist: %s", async (page) => {
    expect(await missingOf(linksOf(page, await textOf(page)))).toEqual([]);
  });

  test.each(pages)("names files that exist, from the root or from src: %s", async (page) => {
    const missing: string[] = [];
    for (const span of pathsNamedIn(await textOf(page))) {
      const path = span.replace(/^#/, "");
      if (!(await exists(path)) && !(await exists(join("src", path)))) missing.push(span);
    }
    expect(missing).toEqual([]);
  });

  test.each(pages.filter((page) => page.startsWith("docs/") && !generated.has(page)))(
    "has no paragraph or table cell that is too long: %s",
    async (page) => {
      const shown = proseOf(await textOf(page))
        .join("\n")
        .replaceAll(/\]\([^)\s]*\)/g, "]");
      const cells = shown.split("\n").flatMap((line) => (line.startsWith("|") ? line.split("|") : []));
      const paragraphs = shown
        .split(/\n\s*\n|\n(?=\s*(?:[-*#|]|\d+\.) ?)/)
        .filter((one) => !one.startsWith("|"));
      const long = [
        ...cells.filter((cell) => cell.trim().length > LONGEST_CELL),
        ...paragraphs.filter((paragraph) => paragraph.trim().length > LONGEST_PARAGRAPH),
      ];
      expect(long.map((text) => `${text.trim().slice(0, 80)}… (${text.trim().length})`)).toEqual([]);
    },
  );
});

test("comments cite pages and headings that exist", async () => {
  const sources = [...(await namesIn("src", /\.ts$/)), ...(await namesIn("test", /\.ts$/))];
  const cited = await Promise.all(
    sources.map(async (source) =>
      Array.from(
        (await textOf(source)).matchAll(/\bdocs\/[\w/-]+\.md(?:#([\w-]+))?/g),
        ([whole, anchor]) => ({
          path: whole.replace(/#.*/, ""),
          anchor,
          as: `${source}: ${whole}`,
        }),
      ),
    ),
  );
  expect(await missingOf(cited.flat())).toEqual([]);
});
