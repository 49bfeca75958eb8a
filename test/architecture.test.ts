/**
 * Rules of the code that a test can check: imports run one way, a table is written by one noun, SQL is in stores,
 * files stay small, the environment is read in one file.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";
/** Short files that stay, because each is a separate idea. The list only becomes shorter. */
import exceptions from "./architecture-exceptions.json" with { type: "json" };

const root = resolve(import.meta.dirname, "..");
const source = join(root, "src");

/** From the top down: a wing knows itself and those above it. `platform` and `mail` do not know each other. */
const wings = [
  "platform",
  "dns",
  "mail",
  "smtp-client",
  "workspace",
  "audience",
  "identity",
  "messages",
  "delivery",
  "tracking",
  "sending",
  "inbound",
  "hygiene",
  "reporting",
  "webhooks",
  "overview",
  "mcp",
  "processes",
  "cli",
];

/** Which wings may be known, where the order alone would allow too much. */
const knownBy: Readonly<Record<string, readonly string[]>> = {
  platform: [],
  dns: ["platform"],
  mail: ["dns"],
  "smtp-client": ["platform", "dns", "mail"],
  mcp: ["platform"],
  messages: ["platform", "mail", "smtp-client"],
  delivery: ["platform", "dns", "mail", "smtp-client", "messages"],
};

/** Larger than 300 lines is a smell, larger than 500 fails. */
const MOST_LINES = 500;

interface SourceFile {
  /** Relative to src, with slashes. */
  readonly path: string;
  readonly wing: string;
  readonly text: string;
  /** Imported files of ours, relative to src. */
  readonly imports: readonly string[];
}

const files: SourceFile[] = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
  .map((path) => {
    const text = readFileSync(join(source, path), "utf8");
    const imports = [...text.matchAll(/(?:from|import|import\()\s*"([.#][^"]+)"/g)].map(([, target = ""]) =>
      target.startsWith("#") ? target.slice(1) : relative(source, resolve(source, dirname(path), target)),
    );
    return { path, wing: path.split("/")[0] ?? "", text, imports };
  });

function mayKnow(wing: string, other: string): boolean {
  if (wing === other) return true;
  return knownBy[wing]?.includes(other) ?? wings.indexOf(other) < wings.indexOf(wing);
}

/** Nodes in circles: each group can reach all of its members. */
function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const reached = new Map([...graph.keys()].map((node) => [node, reachableFrom(graph, node)]));
  const isMutual = (one: string, other: string) =>
    reached.get(one)?.has(other) && reached.get(other)?.has(one);
  const circles = [...graph.keys()].map((node) =>
    [...(reached.get(node) ?? [])].filter((other) => isMutual(node, other)).sort(),
  );
  return [...new Set(circles.filter(({ length }) => length > 0).map((circle) => circle.join(", ")))];
}

function reachableFrom(graph: ReadonlyMap<string, readonly string[]>, start: string): Set<string> {
  const reached = new Set<string>();
  const waiting = [...(graph.get(start) ?? [])];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (reached.has(node)) continue;
    reached.add(node);
    waiting.push(...(graph.get(node) ?? []));
  }
  return reached;
}

test("no circle of files", () => {
  expect(circlesOf(new Map(files.map(({ path, imports }) => [path, imports])))).toEqual([]);
});

/** The assembly of a wing imports from all of its folders, and so do the endpoints of a noun. */
const isAssembly = (path: string) => path.endsWith("/assembly.ts") || path.endsWith("/endpoints.ts");

test("no circle of folders, so that each has its place in an order", () => {
  const graph = new Map<string, string[]>();
  for (const { path, imports } of files.filter(({ path }) => !isAssembly(path))) {
    const folder = dirname(path);
    const others = imports.map((target) => dirname(target)).filter((target) => target !== folder);
    graph.set(folder, [...(graph.get(folder) ?? []), ...others]);
  }
  expect(circlesOf(graph)).toEqual([]);
});

test("an exported name has one meaning", () => {
  const exporters = new Map<string, string[]>();
  for (const { path, text } of files) {
    for (const [, name = ""] of text.matchAll(
      /^export (?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type) (\w+)/gm,
    )) {
      exporters.set(name, [...new Set([...(exporters.get(name) ?? []), path])]);
    }
  }
  const shared = [...exporters].filter(([, paths]) => paths.length > 1).map(([name]) => name);
  expect(shared).toEqual([]);
});

/** A file this short that one other file imports is a detour, unless it is a separate idea. */
const SHORT_LINES = 40;

test("a file exists because it is an idea, not because another was long", () => {
  const importers = new Map<string, string[]>();
  for (const { path, imports } of files) {
    for (const target of imports) importers.set(target, [...(importers.get(target) ?? []), path]);
  }
  /** An assembly lists endpoints, job handlers and recurring work, of which each is an idea. */
  const isDetour = ({ path, text }: SourceFile) => {
    const [importer = "", ...others] = importers.get(path) ?? [];
    if (importer === "" || others.length > 0 || isAssembly(path) || importer.endsWith("/assembly.ts"))
      return false;
    return !path.startsWith("processes/") && text.split("\n").length <= SHORT_LINES + 1;
  };
  expect(
    files
      .filter(isDetour)
      .map(({ path }) => path)
      .sort(),
  ).toEqual(exceptions.shortFiles);
});

test("imports run one way", () => {
  const wrong = files
    .filter(({ wing }) => wings.includes(wing))
    .flatMap(({ path, wing, imports }) =>
      imports
        .filter((target) => {
          const other = target.split("/")[0] ?? "";
          return !wings.includes(other) || !mayKnow(wing, other);
        })
        .map((target) => `${path} imports ${target}`),
    );
  expect(wrong).toEqual([]);
});

test("imports are relative for files beside or below, and begin with the wing otherwise", () => {
  const wrong = files.flatMap(({ path, text }) =>
    [...text.matchAll(/(?:from|import\()\s*"(\.\.\/[^"]+)"/g)].map(
      ([, target]) => `${path} imports ${target}`,
    ),
  );
  expect(wrong).toEqual([]);
});

test("endpoints are imported by the assembly of their wing, and assemblies by processes", () => {
  const mayImport = (path: string, target: string) => {
    if (target.endsWith("/assembly.ts")) return path.startsWith("processes/");
    if (!target.endsWith("/endpoints.ts")) return true;
    return path === `${target.split("/")[0]}/assembly.ts` || path.startsWith("processes/");
  };
  const wrong = files.flatMap(({ path, imports }) =>
    imports.filter((target) => !mayImport(path, target)).map((target) => `${path} imports ${target}`),
  );
  expect(wrong).toEqual([]);
});

/** The folder of a noun, which may have sub-folders for its parts. */
const nounOf = (path: string) => dirname(path).split("/", 2).join("/");

test("a table is written by one noun only", () => {
  const writers = new Map<string, Set<string>>();
  for (const { path, text } of files) {
    for (const [, table] of text.matchAll(/\b(?:insert into|delete from|update)\s+([a-z_]+)\b(?!\s*=)/g)) {
      if (table === undefined || !tables.has(table)) continue;
      writers.set(table, (writers.get(table) ?? new Set()).add(nounOf(path)));
    }
  }
  const shared = [...writers]
    .filter(([, nouns]) => nouns.size > 1)
    .map(([table, nouns]) => `${table}: ${[...nouns].join(", ")}`);
  expect(shared).toEqual([]);
});

/** Files outside of stores that have statements, each with the reason. */
const outsideStores: Readonly<Record<string, string>> = {
  "audience/subscribers/change-member.ts": "hands one person to add-members.ts as a relation",
  "audience/subscribers/memberships/add-members.ts": "the statements that add people and memberships",
  "audience/subscribers/memberships/counters.ts": "the statement that updates the counters of memberships",
  "audience/subscribers/memberships/membership-changes.ts":
    "the statements that change and remove memberships, with their counters",
  "audience/subscribers/memberships/planner-hints.ts": "a relation for looking people up",
  "audience/subscribers/memberships/preview-members.ts":
    "the statement that counts what add-members.ts would do",
  "audience/subscribers/memberships/staging-table.ts": "the temporary table of an import",
  "audience/suppression-lists/suppress-after-outcome.ts": "a relation of the people whose status changes",
  "audience/suppression-lists/suppression-check.ts":
    "the suppression check, a relation that other statements join",
  "delivery/queue/notify-workers.ts": "NOTIFY, which uses no table",
  "delivery/worker/delivery-worker.ts": "asks whether the database answers again",
  "platform/database/process-lock.ts": "the session locks that show which processes live",
  "delivery/queue/worker-lock.ts": "the session locks that show which workers live",
  "messages/record-outcomes.ts": "the only code that writes outcomes into the log",
  "messages/record-engagement.ts": "the only code that writes opens and clicks into the log",
  "platform/database/embedded/embedded.ts": "creates the database",
  "platform/database/migrate.ts": "creates the schema",
  "platform/database/time-left.ts": "passes statements to the driver",
  "platform/database/pool.ts": "begins and ends transactions, listens",
  "platform/http/route-handler.ts": "asks whether the database answers",
  "platform/http/health.ts": "asks whether the database answers",
  "platform/http/idempotency/idempotency.ts": "the store of the only table of platform/http",
  "sending/acceptance/commit-batch.ts": "joins fragments of several stores into one statement",
  "sending/acceptance/accept-messages-statement.ts": "joins fragments of several stores into one statement",
};

test("SQL is in stores, except in the files named here", () => {
  const statement =
    /\b(?:sql|raw\()\s*`\s*(?:select|insert|update|delete|with|merge|lock|create|alter|drop|truncate|set|copy)\b|\.query(?:<[^>]*>)?\(/;
  const found = files
    .filter(({ path, text }) => !/(^|[/-])store\.ts$/.test(path) && statement.test(text))
    .map(({ path }) => path);
  expect(found.filter((path) => !(path in outsideStores))).toEqual([]);
});

test("each channel has one file that notifies: the delivery workers and the runners of jobs", () => {
  const notifiers = files.filter(({ text }) => /pg_notify|`\s*notify\b/.test(text)).map(({ path }) => path);
  expect(notifiers).toEqual(["delivery/queue/notify-workers.ts", "platform/jobs/turns-store.ts"]);
});

test("no body is spread over the caller, which would let a request name another workspace", () => {
  /** Innermost braces; calls are removed, whose arguments may name the caller. */
  const isMixed = (text: string) =>
    (text.replaceAll(/(?<=\w)\([^(){}]*\)/g, "").match(/\{[^{}]*\}/g) ?? []).some(
      (object) => /\.\.\.body\b/.test(object) && /[{,]\s*caller\b/.test(object),
    );
  expect(isMixed("{ caller, requestId, ...body }")).toBe(true);
  expect(files.filter(({ text }) => isMixed(text)).map(({ path }) => path)).toEqual([]);
});

test("one file reads bodies", () => {
  const readers = files.filter(({ text }) => text.includes("addContentTypeParser(")).map(({ path }) => path);
  expect(readers).toEqual(["platform/http/request/read-body.ts"]);
});

test("no file has more than 500 lines", () => {
  const large = files.filter(({ text }) => text.split("\n").length > MOST_LINES).map(({ path }) => path);
  expect(large).toEqual([]);
});

test("the environment is read in one place", () => {
  const readers = files.filter(({ text }) => text.includes("process.env")).map(({ path }) => path);
  expect(readers).toEqual(["main.ts"]);
});

test("every file is named for its duty: no index, utils or helpers", () => {
  const vague = /(^|\/)(index|utils?|helpers?|common|types|services?|managers?|misc)(\.ts$|\/)/;
  expect(files.map(({ path }) => path).filter((path) => vague.test(path))).toEqual([]);
});

/** Every table of the schema. */
const tables = new Set(
  readdirSync(join(root, "db/migrations")).flatMap((name) =>
    [
      ...readFileSync(join(root, "db/migrations", name), "utf8").matchAll(
        /create (?:unlogged )?table (\w+)/g,
      ),
    ].map(([, table]) => table ?? ""),
  ),
);
