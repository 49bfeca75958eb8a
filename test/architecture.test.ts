/**
 * The house rules that a machine can check: imports run one way, a table is written by one noun, SQL stands in
 * stores, files stay small, the environment is read in one place.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";
/** What the rules below do not hold for yet. These lists only become shorter. */
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
  "processes",
  "cli",
];

/** Which wings may be known, where the order alone would allow too much. */
const knownBy: Readonly<Record<string, readonly string[]>> = {
  platform: [],
  dns: ["platform"],
  mail: ["dns"],
  "smtp-client": ["platform", "dns", "mail"],
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

/** The endpoints of a noun are part of the assembly: only endpoints.ts of processes imports them. */
const assembly = "processes/endpoints.ts";
const isAssembly = (path: string) => path.endsWith("/endpoints.ts");

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
  expect(shared.sort()).toEqual(exceptions.sharedNames);
});

/** A file this short that one other file imports is a detour, unless it is an idea of its own. */
const SHORT_LINES = 40;

test("a file exists because it is an idea, not because another was long", () => {
  const importers = new Map<string, number>();
  for (const target of files.flatMap(({ imports }) => imports)) {
    importers.set(target, (importers.get(target) ?? 0) + 1);
  }
  const short = files
    .filter(({ path, text }) => importers.get(path) === 1 && text.split("\n").length <= SHORT_LINES + 1)
    .map(({ path }) => path);
  expect(short.sort()).toEqual(exceptions.shortFiles);
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

test("a folder is reached by the name of its wing, and only what is beside or below by a relative path", () => {
  const wrong = files.flatMap(({ path, text }) =>
    [...text.matchAll(/(?:from|import\()\s*"(\.\.\/[^"]+)"/g)].map(
      ([, target]) => `${path} imports ${target}`,
    ),
  );
  expect(wrong).toEqual([]);
});

test("only processes/endpoints.ts imports those of the wings", () => {
  const wrong = files.flatMap(({ path, imports }) =>
    imports
      .filter((target) => target.endsWith("/endpoints.ts") && target !== assembly && path !== assembly)
      .map((target) => `${path} imports ${target}`),
  );
  expect(wrong).toEqual([]);
});

/** The folder of a noun: of its own parts each may have a folder in it. */
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

/** Statements that stand elsewhere, each for a reason. */
const outsideStores: Readonly<Record<string, string>> = {
  "audience/subscribers/memberships/add-members.ts": "a part of membership-changes.ts",
  "audience/subscribers/change-member.ts": "a part of membership-changes.ts",
  "audience/subscribers/memberships/list-counters.ts": "a part of membership-changes.ts",
  "audience/subscribers/memberships/new-people.ts": "a part of membership-changes.ts",
  "audience/subscribers/memberships/staging.ts": "a part of membership-changes.ts",
  "audience/subscribers/memberships/membership-changes.ts":
    "the one way by which a subscriber's status moves, with its history and counters",
  "audience/subscribers/memberships/planner-hints.ts": "a relation that others look people up by",
  "audience/suppression-lists/suppression-check.ts":
    "the one judge of who is suppressed, a relation that others join",
  "audience/suppression-lists/suppress-after-outcome.ts":
    "what a bounce or a complaint moves, in one statement",
  "delivery/queue/channel.ts": "NOTIFY, which no table is behind",
  "delivery/worker/delivery-worker.ts": "asks whether the database is back",
  "platform/database/process-lock.ts": "the session locks by which processes know each other alive",
  "delivery/queue/worker-lock.ts": "the session locks by which workers know each other alive",
  "messages/record-outcomes.ts": "the one way by which an outcome reaches the log",
  "messages/record-engagement.ts": "the same for what recipients do",
  "messages/partitions.ts": "makes tables",
  "messages/retention.ts": "drops tables",
  "platform/database/embedded/embedded.ts": "makes the database",
  "platform/database/migrate.ts": "makes the schema",
  "platform/database/time-left.ts": "hands statements on to the driver",
  "platform/database/pool.ts": "begins and ends transactions, listens",
  "platform/http/route-handler.ts": "asks whether the database answers",
  "platform/http/health.ts": "asks whether anybody answers",
  "platform/http/idempotency/idempotency.ts": "is itself the store of the one table that the HTTP edge has",
  "sending/acceptance/batch.ts": "joins the parts of several stores into one statement",
  "sending/acceptance/statement.ts": "joins the parts of several stores into one statement",
};

test("SQL stands in stores, but for what is named here", () => {
  const statement =
    /\b(?:sql|raw\()\s*`\s*(?:select|insert|update|delete|with|merge|lock|create|alter|drop|truncate|set|copy)\b|\.query(?:<[^>]*>)?\(/;
  const found = files
    .filter(({ path, text }) => !/(^|[/-])store\.ts$/.test(path) && statement.test(text))
    .map(({ path }) => path);
  expect(found.filter((path) => !(path in outsideStores))).toEqual([]);
});

test("each channel has one file that notifies: the delivery workers and the runners of jobs", () => {
  const notifiers = files.filter(({ text }) => /pg_notify|`\s*notify\b/.test(text)).map(({ path }) => path);
  expect(notifiers).toEqual(["delivery/queue/channel.ts", "platform/jobs/turns-store.ts"]);
});

test("one file reads bodies", () => {
  const readers = files.filter(({ text }) => text.includes("addContentTypeParser(")).map(({ path }) => path);
  expect(readers).toEqual(["platform/http/request/read-body.ts"]);
});

test("no file outgrows its duty", () => {
  const large = files.filter(({ text }) => text.split("\n").length > MOST_LINES).map(({ path }) => path);
  expect(large).toEqual([]);
});

test("the environment is read in one place", () => {
  const readers = files.filter(({ text }) => text.includes("process.env")).map(({ path }) => path);
  expect(readers).toEqual(["main.ts"]);
});

test("no barrels and no drawers: every file is named for its duty", () => {
  const vague = /(^|\/)(index|utils?|helpers?|common|types|services?|managers?|misc)(\.ts$|\/)/;
  expect(
    files.map(({ path }) => path).filter((path) => vague.test(path) && path !== "processes/context.ts"),
  ).toEqual([]);
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
