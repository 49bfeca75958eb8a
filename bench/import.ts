/**
 * Measures an import: a CSV file of a million people with four custom fields into an empty list of the real program,
 * from the first byte of the upload to the end of the job, and the same file again. The yardstick is COPY of the same
 * rows, over as many connections, into tables with the same columns and indexes.
 */
import { createReadStream, openAsBlob } from "node:fs";
import { appendFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import sql from "sql-template-tag";
import { newIdSeries } from "#platform/ids.ts";
import type { CallApi } from "#test/support/api-caller.ts";
import { type Program, startProgram } from "#test/support/program.ts";
import { memoryOf } from "./machine.ts";
import type { BenchSetup } from "./setup.ts";
import { type Figure, grouped } from "./table.ts";

const PEOPLE = 1_000_000;
const LEAST_RATE = 60_000;
const LEAST_RATIO = 0.5;
const MOST_MIB = 300;
const CONNECTIONS = 2;
const LOOK_MS = 100;
/** Interval of memory measurements; each starts a process, which takes CPU time. */
const MEMORY_LOOK_MS = 500;

const first =
  "Anna Bob Clara David Emma Felix Greta Hans Ida Jonas Karla Lukas Maria Noah Olga Paul Rosa".split(" ");
const last =
  "Smith Jones Garcia Miller Davis Lopez Wilson Moore Lee White Harris Clark Lewis Young Hill".split(" ");
const cities = ["Berlin", "Paris", "London", "Rome", "Madrid", "Vienna", "Oslo", "Prague"];
const plans = ["free", "pro", "team"];
const providers = ["gmail.com", "gmail.com", "gmail.com", "yahoo.com", "outlook.com", "web.de"];

export async function benchImport(setup: BenchSetup): Promise<Figure[]> {
  const files = await writeFiles(setup);
  const raw = await copyRaw(setup, files);
  const { first, again, most } = await importTwice(setup, files.csv);
  await Promise.all(
    Object.values(files)
      .flat()
      .map((path) => rm(path)),
  );
  const figure = (what: string, seconds: number): Figure => {
    const [rate, rawRate] = [PEOPLE / seconds, PEOPLE / raw];
    const ratio = rate / rawRate;
    return {
      what,
      measured: `${grouped(rate)} rows/s`,
      yardstick: `raw COPY ${grouped(rawRate)} rows/s`,
      ratio,
      aim: `≥ ${grouped(LEAST_RATE)} rows/s, ratio ≥ ${LEAST_RATIO}`,
      isMet: rate >= LEAST_RATE && ratio >= LEAST_RATIO,
    };
  };
  return [
    figure(`import, ${grouped(PEOPLE)} people`, first),
    figure("the same file again", again),
    {
      what: "memory of its process, at most",
      measured: `${most} MiB`,
      aim: `< ${MOST_MIB} MiB`,
      isMet: most < MOST_MIB,
    },
  ];
}

interface Files {
  readonly csv: string;
  /** The same people as rows of both tables, in files of BATCH rows. */
  readonly subscribers: readonly string[];
  readonly memberships: readonly string[];
}

/** The number of rows that the import writes in one transaction. */
const BATCH = 20_000;

async function writeFiles({ folder, workspaceId }: BenchSetup): Promise<Files> {
  const files = { csv: join(folder, "people.csv"), subscribers: [] as string[], memberships: [] as string[] };
  const nextId = newIdSeries();
  const list = nextId();
  const now = new Date().toISOString();
  await writeFile(files.csv, "Email,First,Last,City,Plan,Score,VIP\r\n");
  for (let from = 1; from <= PEOPLE; from += BATCH) {
    let [lines, people, memberships] = ["", "", ""];
    for (let number = from; number < from + BATCH; number++) {
      const pick = (values: readonly string[], salt: number) =>
        values[Math.floor(((number * 2_654_435_761 + salt * 40_503) % 2 ** 32) / 65_536) % values.length] ??
        "";
      const domain = number % 10 === 0 ? `firm${number % 20_000}.com` : pick(providers, 3);
      const [name, surname, city, plan] = [pick(first, 1), pick(last, 2), pick(cities, 4), pick(plans, 5)];
      const email = `${name}${number}@${domain}`.toLowerCase();
      const [score, vip, id] = [number % 1_000, number % 50 === 0, nextId()];
      lines += `${email},${name},${surname},${city},${plan},${score},${vip ? 1 : 0}\r\n`;
      const fields = JSON.stringify({ city, plan, score, vip });
      const lists = `\\\\x${list.replaceAll("-", "")}`;
      people += `${[workspaceId, id, email, name, surname, "import", fields, "active", lists, now, now].join("\t")}\n`;
      memberships += `${[workspaceId, list, id, "active", "import", now, now, now].join("\t")}\n`;
    }
    files.subscribers.push(join(folder, `subscribers-${from}`));
    files.memberships.push(join(folder, `memberships-${from}`));
    await appendFile(files.csv, lines);
    await writeFile(files.subscribers.at(-1) ?? "", people);
    await writeFile(files.memberships.at(-1) ?? "", memberships);
  }
  return files;
}

/** Duration of COPY in seconds. */
async function copyRaw({ database }: BenchSetup, files: Files): Promise<number> {
  await database.run(sql`create table raw_subscribers (like subscribers including all)`);
  await database.run(sql`create table raw_memberships (like memberships including all)`);
  const left = [...files.subscribers.keys()];
  const work = async () => {
    for (let at = left.shift(); at !== undefined; at = left.shift()) {
      const [people, memberships] = [files.subscribers[at] ?? "", files.memberships[at] ?? ""];
      await database.transaction(async (tx) => {
        await tx.copy(
          "copy raw_subscribers (workspace_id, id, email, first_name, last_name, source, custom_fields, status, active_lists, created_at, updated_at) from stdin",
          createReadStream(people),
        );
        await tx.copy(
          "copy raw_memberships (workspace_id, mailing_list_id, subscriber_id, status, source, subscribed_at, created_at, updated_at) from stdin",
          createReadStream(memberships),
        );
      });
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  const seconds = (performance.now() - startedAt) / 1_000;
  await database.run(sql`drop table raw_subscribers, raw_memberships`);
  await database.run(sql`checkpoint`);
  return seconds;
}

/** Durations of both imports in seconds, and the peak memory of a Node.js process of the program. */
async function importTwice(
  setup: BenchSetup,
  csv: string,
): Promise<{ first: number; again: number; most: number }> {
  await using program = await startProgram(setup.environment, ["serve", "--roles", "api,jobs"]);
  const call: CallApi = (method, path, body) => program.call(method, path, body, { key: setup.apiKey });
  const list = (await call("POST", "/mailing-lists", { name: "Everybody" })).body.data.id;
  for (const body of [
    { field_name: "city", field_type: "text" },
    { field_name: "plan", field_type: "select", field_options: plans },
    { field_name: "score", field_type: "number" },
    { field_name: "vip", field_type: "boolean" },
  ]) {
    await call("POST", `/mailing-lists/${list}/custom-fields`, { ...body, field_label: body.field_name });
  }
  const path = `/mailing-lists/${list}/subscribers/import-async`;
  const first = await importFile(program, call, { csv, path, expected: { created: PEOPLE } });
  const again = await importFile(program, call, { csv, path, expected: { unchanged: PEOPLE } });
  return { first: first.seconds, again: again.seconds, most: Math.max(first.most, again.most) };
}

/** Seconds from the upload to the end of the job. */
async function importFile(
  program: Program,
  call: CallApi,
  { csv, path, expected }: { csv: string; path: string; expected: Readonly<Record<string, number>> },
): Promise<{ seconds: number; most: number }> {
  const form = new FormData();
  form.append("csvFile", await openAsBlob(csv), "people.csv");
  const startedAt = performance.now();
  const started = await call("POST", path, form);
  if (started.status !== 202) throw new Error(`the import was refused: ${JSON.stringify(started.body)}`);
  let [most, lookedAt] = [0, startedAt];
  for (;;) {
    const { body } = await call("GET", `/jobs/${started.body.data.job_id}`);
    if (performance.now() - lookedAt >= MEMORY_LOOK_MS) {
      lookedAt = performance.now();
      most = Math.max(most, await memoryNow(program));
    }
    const { status, counts, error } = body.data;
    const isExact = Object.entries(expected).every(([name, count]) => counts[name] === count);
    if (status === "completed" && isExact) break;
    if (!["pending", "processing"].includes(status)) {
      throw new Error(`the import ended as ${status}: ${error ?? JSON.stringify(counts)}`);
    }
    await delay(LOOK_MS);
  }
  return { seconds: (performance.now() - startedAt) / 1_000, most };
}

async function memoryNow({ pid }: Program): Promise<number> {
  return Math.max(...(await memoryOf(pid)));
}
