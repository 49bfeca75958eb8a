/**
 * Measures the search over everything, pages and counts of people, and filters of messages over HTTP, with a million
 * people and ten million messages (BENCH_PEOPLE and BENCH_MESSAGES set other numbers). The yardstick is a count of a
 * million generated rows in PostgreSQL, between the calls.
 */
import sql from "sql-template-tag";
import { createDatabase } from "#platform/database/pool.ts";
import { DAY_MS, HOUR_MS } from "#platform/time-units.ts";
import { startProgram } from "#test/support/program.ts";
import { makePeopleData, type PeopleData } from "./people-data.ts";
import { makeReportData } from "./report-data.ts";
import type { BenchSetup } from "./setup.ts";
import { type Figure, median } from "./table.ts";

const PEOPLE = Number(process.env.BENCH_PEOPLE ?? 1_000_000);
const MESSAGES = Number(process.env.BENCH_MESSAGES ?? 10_000_000);
const RUNS = 5;
const MOST_SEARCH_MS = 50;
const MOST_FILTER_MS = 100;

export async function benchPeople(setup: BenchSetup): Promise<Figure[]> {
  const deadlines = { statementMs: HOUR_MS, answerMs: HOUR_MS };
  const options = { size: 4, name: "people", onError: () => {}, deadlines };
  const database = createDatabase(setup.databaseUrl, options);
  try {
    const data = await makePeopleData(database, setup.workspaceId, PEOPLE);
    await makeReportData(database, setup, MESSAGES);
    return await askPeople(setup, data);
  } finally {
    await database.close();
  }
}

/** Asks a database that has the data. @param only paths that contain this */
export async function askPeople(
  setup: Pick<BenchSetup, "environment" | "database" | "apiKey">,
  data: PeopleData,
  only = "",
): Promise<Figure[]> {
  await using service = await startProgram(setup.environment, ["serve", "--roles", "api"]);
  const timed = async (path: string, key: string) => {
    const from = performance.now();
    const { status, body } = await service.call("GET", path, undefined, { key });
    if (status !== 200) throw new Error(`${path}: ${status} ${body.error}`);
    return { taken: performance.now() - from, answer: body.data };
  };
  const measure = async (path: string, most: number, key = setup.apiKey): Promise<Figure> => {
    const taken: number[] = [];
    const scans: number[] = [];
    let shown = "";
    for (let run = 0; run < RUNS; run++) {
      const from = performance.now();
      await setup.database.run(sql`select count(*) from generate_series(1, 1000000)`);
      scans.push(performance.now() - from);
      const call = await timed(uncached(path), key);
      taken.push(call.taken);
      const { pagination, incomplete = [] } = call.answer;
      shown = incomplete.length > 0 ? ` without ${incomplete}` : pagination ? ` (${pagination.total})` : "";
    }
    const [middle, scan] = [median(taken), median(scans)];
    return {
      what: `${key === setup.apiKey ? "" : "small: "}${path.replace(data.everybody, "…")}${shown}`,
      measured: `p50 ${middle.toFixed(0)}, most ${Math.max(...taken).toFixed(0)} ms`,
      yardstick: `${scan.toFixed(0)} ms`,
      ratio: middle / scan,
      aim: `p50 < ${most} ms`,
      isMet: middle < most,
    };
  };
  const figures: Figure[] = [];
  const measureAll = async (paths: readonly string[], most: number, key?: string) => {
    for (const path of paths) if (path.includes(only)) figures.push(await measure(path, most, key));
  };
  const searchPaths = searches.map((text) => `/search?q=${encodeURIComponent(text)}`);
  await measureAll(searchPaths, MOST_SEARCH_MS);
  await measureAll(searchPaths, MOST_SEARCH_MS, data.smallKey);
  await measureAll(peoplePaths(data.everybody), MOST_FILTER_MS);
  await measureAll(messagePaths(), MOST_FILTER_MS);
  return figures;
}

/** Frequent and rare names, beginnings of words and addresses, addresses and ids. */
const searches = [
  "john smith",
  "john",
  "smi",
  "anna",
  "gmail.com",
  "@gmail.com",
  "john.smith50",
  "nobody is called this",
  "person.77@mail1.test",
  "a",
  "01890000-0000-7000-8000-000000000000",
];

/** The path with a time that no earlier call had: totals of filters are remembered for some seconds. */
const uncached = (path: string) =>
  path.startsWith("/subscribers?") && !path.startsWith("/subscribers?sort=")
    ? `${path}&joined_to=${encodeURIComponent(new Date(Date.now() + DAY_MS).toISOString())}`
    : path;

const ago = (days: number) => encodeURIComponent(new Date(Date.now() - days * DAY_MS).toISOString());

function peoplePaths(list: string): string[] {
  const filters = [
    `joined_from=${ago(365)}`,
    `opened_since=${ago(30)}`,
    `opened_since=${ago(400)}`,
    "never_opened=true",
    "never_clicked=true",
    `clicked_since=${ago(400)}`,
    "field=city&field_value=Berlin",
    "field=plan&field_value=pro",
    "field=plan&field_value=pro&never_opened=true",
    "status=unsubscribed&never_opened=true",
    "never_opened=true&sort=email",
    "field=plan&field_value=pro&sort=email",
    `opened_since=${ago(400)}&sort=-last_opened_at`,
    "search=john%20smith",
    "search=john%20smith&never_opened=true",
    "sort=email",
    "sort=-last_opened_at",
    `list_id=${list}&never_opened=true`,
    `list_id=${list}&field=plan&field_value=pro`,
    `list_id=${list}&joined_from=${ago(365)}`,
  ];
  return filters.map((filter) => `/subscribers?${filter}`);
}

function messagePaths(): string[] {
  const filters = [
    "subject=usual",
    "subject=nothing%20like%20it",
    "domain=mail1.test",
    "domain=nowhere.test",
    "from_email=news%40brand1.test",
    "status=bounced&domain=mail1.test",
    "code=550",
    "code=5.1.1&status=bounced",
    `accepted_from=${ago(30)}&accepted_before=${ago(29)}`,
    `accepted_from=${ago(90)}&subject=usual`,
    "email=person.77%40mail1.test",
    "email=person.77%40mail1.test&subject=usual",
    "email=person.7",
    "request_id=none",
    "source=campaign&subject=nothing",
  ];
  return filters.map((filter) => `/messages?${filter}`);
}
