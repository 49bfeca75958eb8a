/**
 * Measures suppression with a million entries on one list, over HTTP: an import, the test of a value, pages of entries,
 * and the cost of the suppression check for POST /emails/send, without other load.
 */
import sql from "sql-template-tag";
import { type Program, startProgram } from "#test/support/program.ts";
import { type HttpLoadResult, runHttpLoad } from "./http-load.ts";
import { messageLoad } from "./message-load.ts";
import type { BenchSetup } from "./setup.ts";
import { type Figure, grouped, median, medianBy } from "./table.ts";

const ENTRIES = 1_000_000;
const FILE_BYTES = 20_000_000;
const MOST_TEST_MS = 2;
const MOST_PAGE_MS = 50;
const PAGES = 40;
const SENDERS = 64;
const RUNS = 3;
const LEAST_RATIO = 0.9;
const SECONDS = 4;
const WARM_UP_SECONDS = 2;

/** Addresses of 24 characters on average, so that a file of the largest size has 800,000. */
const addressOf = (number: number) => `person.${number}@mail${number % 5_000}.test`;

export async function benchSuppression(setup: BenchSetup): Promise<Figure[]> {
  await using service = await startProgram(setup.environment, ["serve", "--roles", "api"]);
  const call = (method: string, path: string, body?: unknown) =>
    service.call(method, path, body, { key: setup.apiKey });
  const { id } = (await call("POST", "/suppression-lists", { name: "A million" })).body.data;
  const list = `/suppression-lists/${id}`;
  const port = Number(new URL(service.url).port);

  const before = await acceptRate(setup, service);
  let imported = 0;
  let rate = 0;
  while (imported < ENTRIES) {
    const file = fileFrom(imported, ENTRIES);
    const from = performance.now();
    const { body } = await call("POST", `${list}/import`, file.form);
    if (body.data?.added !== file.rows) throw new Error(`an import answered ${JSON.stringify(body)}`);
    rate ||= file.rows / ((performance.now() - from) / 1_000);
    imported += file.rows;
  }
  // Otherwise autovacuum after the imports would slow the next measurement.
  await setup.database.run(sql`vacuum analyze suppression_entries`);
  await setup.database.run(sql`checkpoint`);
  const after = await acceptRate(setup, service);
  const test = await runHttpLoad({
    port,
    path: `/api/v1${list}/test`,
    headers: { "X-API-Key": setup.apiKey },
    body: JSON.stringify({ test_value: "person.00000000@mail7.test" }),
    connections: 1,
    seconds: SECONDS,
    warmUpSeconds: WARM_UP_SECONDS,
  });
  const timed = async (path: string) => {
    const from = performance.now();
    if ((await call("GET", path)).body.data?.length === undefined) throw new Error(`${path} is empty`);
    return performance.now() - from;
  };
  const timesOf = async (paths: readonly string[]) => {
    const times: number[] = [];
    for (const path of paths) times.push(await timed(path));
    return times;
  };
  // The first page at a large offset caches the positions of the others.
  const first = await timed(`${list}/entries?page=900`);
  const deep = await timesOf(
    Array.from({ length: PAGES }, (_, at) => `${list}/entries?page=${at * 25 + 10}`),
  );
  const searches = await timesOf(
    Array.from({ length: PAGES }, (_, at) => `${list}/entries?search=person.${at * 7}`),
  );
  return [
    {
      what: "import, a file of 20 MB",
      measured: `${grouped(rate)} entries/s`,
      aim: "",
      isMet: null,
    },
    {
      what: "test a value, 1,000,000 entries",
      measured: `p50 ${test.p50.toFixed(2)}, p99 ${test.p99.toFixed(2)} ms`,
      aim: `p99 < ${MOST_TEST_MS} ms`,
      isMet: test.p99 < MOST_TEST_MS,
    },
    pageFigure(`a page of 1,000 entries at any depth (the first ${first.toFixed(0)} ms)`, deep),
    pageFigure("a search among them", searches),
    {
      what: "accept, 1 KB body, 1,000,000 entries",
      measured: `${grouped(after.rate)}/s, p99 ${after.p99.toFixed(1)} ms`,
      yardstick: `without entries ${grouped(before.rate)}/s, p99 ${before.p99.toFixed(1)} ms`,
      ratio: after.rate / before.rate,
      aim: `ratio ≥ ${LEAST_RATIO}`,
      isMet: after.rate / before.rate >= LEAST_RATIO,
    },
  ];
}

function pageFigure(what: string, times: readonly number[]): Figure {
  const p95 = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? Number.NaN;
  return {
    what,
    measured: `p50 ${median(times).toFixed(1)}, p95 ${p95.toFixed(1)} ms`,
    aim: `p95 < ${MOST_PAGE_MS} ms`,
    isMet: p95 < MOST_PAGE_MS,
  };
}

/** A file of the largest allowed size with entries from number `first` on. */
function fileFrom(first: number, end: number): { form: FormData; rows: number } {
  const lines = ["email\n"];
  let bytes = 0;
  let number = first;
  for (; number < end && bytes < FILE_BYTES; number++) {
    const line = `${addressOf(number)}\n`;
    lines.push(line);
    bytes += line.length;
  }
  const form = new FormData();
  form.set("csvFile", new Blob(lines), "entries.csv");
  return { form, rows: number - first };
}

async function acceptRate(setup: BenchSetup, service: Program): Promise<HttpLoadResult> {
  const load = messageLoad(setup, service.url, {
    connections: SENDERS,
    seconds: SECONDS,
    warmUpSeconds: WARM_UP_SECONDS,
  });
  const runs: HttpLoadResult[] = [];
  for (let run = 0; run < RUNS; run++) runs.push(await runHttpLoad(load));
  return medianBy(runs, ({ rate }) => rate);
}
