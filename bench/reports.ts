/**
 * Measures reports and the message log over HTTP with ten million messages (BENCH_MESSAGES sets another number): every
 * report, and pages of the log with every filter, at the beginning and at large offsets. It also recounts all counters
 * from the log, as `doctor --counters` does.
 */

import sql, { join, raw } from "sql-template-tag";
import { counters } from "#messages/counters/counters.ts";
import { createDatabase, type Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { DAY_MS, HOUR_MS } from "#platform/time-units.ts";
import { startProgram } from "#test/support/program.ts";
import { DAYS, makeReportData, type ReportData } from "./report-data.ts";
import type { BenchSetup } from "./setup.ts";
import { type Figure, grouped, median } from "./table.ts";

const MESSAGES = Number(process.env.BENCH_MESSAGES ?? 10_000_000);
const RUNS = 30;
const MOST_REPORT_MS = 100;
const MOST_PAGE_MS = 50;
/** A cheap call: the time that any answer takes. */
const LEAST = "/api-keys?limit=1";
/** How often the counters are copied to earlier dates, for reports of a year. */
const OLDER = 4;

export async function benchReports(setup: BenchSetup): Promise<Figure[]> {
  const patience = { statementMs: HOUR_MS, answerMs: HOUR_MS };
  const options = { size: 4, name: "reports", onError: () => {}, deadlines: patience };
  const database = createDatabase(setup.databaseUrl, options);
  try {
    const data = await makeReportData(database, setup, MESSAGES);
    return await askReports(setup, database, data);
  } finally {
    await database.close();
  }
}

/** @param database a connection without statement timeouts */
export async function askReports(
  setup: BenchSetup,
  database: Database,
  { campaignId, wholeAddress }: ReportData,
): Promise<Figure[]> {
  await using service = await startProgram(setup.environment, ["serve", "--roles", "api"]);
  const ask = async (path: string) => {
    const { status, body } = await service.call("GET", path, undefined, { key: setup.apiKey });
    if (status !== 200) throw new Error(`${path}: ${status} ${body.error}`);
    return body.data;
  };
  const timed = async (path: string) => {
    const from = performance.now();
    const { pagination } = await ask(path);
    return { taken: performance.now() - from, total: pagination?.total };
  };
  const measure = async (path: string, most: number): Promise<Figure> => {
    const runs: { taken: number; total: number | undefined }[] = [];
    const least: number[] = [];
    for (let run = 0; run < RUNS; run++) {
      runs.push(await timed(path));
      least.push((await timed(LEAST)).taken);
    }
    const taken = runs.map((run) => run.taken);
    const p95 = taken.toSorted((a, b) => a - b)[Math.ceil(RUNS * 0.95) - 1] ?? Number.NaN;
    const total = runs[0]?.total;
    return {
      what: `${path.replace(campaignId, "…")}${total === undefined ? "" : ` (${grouped(total)})`}`,
      measured: `p50 ${median(taken).toFixed(0)}, p95 ${p95.toFixed(0)} ms`,
      yardstick: `p50 ${median(least).toFixed(0)} ms`,
      ratio: median(taken) / median(least),
      aim: `p95 < ${most} ms`,
      isMet: p95 < most,
    };
  };
  const measureAll = async (paths: readonly string[], most: number) => {
    const figures: Figure[] = [];
    for (const path of paths) figures.push(await measure(path, most));
    return figures;
  };

  const pages = logPaths(wholeAddress);
  const { messages } = await ask("/messages?limit=1");
  const figures = [
    ...(await measureAll(reportPaths, MOST_REPORT_MS)),
    ...(await measureAll(
      [...pages, ...(await deepPaths(ask, pages)), `/messages/${messages[0].id}`],
      MOST_PAGE_MS,
    )),
    ...(await measureAll(campaignPaths(campaignId, wholeAddress), MOST_PAGE_MS)),
  ];
  const from = performance.now();
  const verdict = await service
    .command("doctor", "--counters", "--json")
    .catch((fault: Error) => fault.message);
  figures.push({
    what: "doctor --counters",
    measured: `${((performance.now() - from) / 1_000).toFixed(0)} s`,
    aim: "no difference",
    isMet: verdict.trim() === "[]",
  });
  await repeatCounters(database, setup.workspaceId);
  return [...figures, ...(await measureAll(yearPaths(), MOST_REPORT_MS))];
}

const dayBefore = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

const reportPaths = [
  "/dashboard",
  "/stats/chart",
  `/stats/chart?start_date=${dayBefore(DAYS - 1)}&end_date=${dayBefore(0)}`,
  "/stats/health",
  "/stats/campaigns",
  "/stats/autoresponders",
  "/stats/api",
  "/stats/smtp",
  "/deliverability",
  "/deliverability?window_days=90",
  "/deliverability/recipient-domains",
  "/deliverability/recipient-domains?window_days=90",
  "/deliverability/recipient-domains?window_days=90&page=20",
  "/bounces",
  "/bounces?page=1000",
  "/complaints",
  "/bounces-complaints/dashboard",
  "/bounces-complaints/dashboard?window_days=90",
];

/** Reports of a year, requested after `repeatCounters`. */
const yearPaths = () => [
  `/stats/chart?start_date=${dayBefore(365)}&end_date=${dayBefore(0)}`,
  "/bounces-complaints/dashboard?window_days=365",
  "/messages?source=smtp",
];

const statuses = [
  "queued",
  "sending",
  "deferred",
  "delivered",
  "bounced",
  "failed",
  "complained",
  "cancelled",
];

function logPaths(wholeAddress: string): string[] {
  const upper = wholeAddress.toUpperCase();
  return [
    "",
    ...["campaign", "autoresponder", "api", "smtp", "platform"].map((source) => `source=${source}`),
    ...statuses.map((status) => `status=${status}`),
    ...["queued", "delivered", "bounced"].map((status) => `source=smtp&status=${status}`),
    `email=${wholeAddress}`,
    `email=${upper}&status=delivered`,
    `email=${wholeAddress}&source=api&status=failed`,
    "email=person.77",
    "email=nobody",
    "email=@mail1.test&source=smtp",
    "email=person&status=bounced",
    "email=nobody@nowhere.test",
    "email=nobody@nowhere.test&source=campaign&status=delivered",
  ].map((query) => `/messages?${query}`);
}

/** Pages in the middle and at the end of long lists. */
async function deepPaths(
  ask: (path: string) => Promise<{ readonly pagination: { readonly total_pages: number } }>,
  paths: readonly string[],
): Promise<string[]> {
  const deep: string[] = [];
  for (const path of paths) {
    const { total_pages } = (await ask(path)).pagination;
    if (total_pages > 100 && !path.includes("email")) {
      deep.push(`${path}&page=${Math.ceil(total_pages / 2)}`, `${path}&page=${total_pages}`);
    }
  }
  return deep;
}

const campaignPaths = (campaignId: string, wholeAddress: string) =>
  [
    "",
    ...statuses.map((status) => `status=${status}`),
    "page=100",
    "status=delivered&page=100",
    `email=${wholeAddress}`,
    "email=person.77",
    "email=nobody",
    "email=nobody@nowhere.test",
    "email=person.7&status=bounced",
  ].map((query) => `/campaigns/${campaignId}/messages?${query}`);

/** Copies the counters to earlier dates, so that they cover a year. */
async function repeatCounters(database: Database, workspaceId: WorkspaceId): Promise<void> {
  for (const [table, time] of [
    ["report_quarters", "quarter"],
    ["report_eighths", "eighth"],
    ["report_domain_days", "day"],
    ["report_sender_days", "day"],
    ["report_ip_days", "day"],
    ["report_category_days", "day"],
  ]) {
    const columns = await database.rows<{ name: string }>(sql`
      select column_name as name from information_schema.columns where table_name = ${table}`);
    const names = columns.map(({ name }) => name);
    const earlier = names.map((name) =>
      raw(
        name === time ? `${time} - back * ${DAYS + 1}${time === "day" ? "" : " * interval '1 day'"}` : name,
      ),
    );
    await database.run(sql`
      insert into ${raw(table ?? "")} (${join(names.map((name) => raw(name)))})
      select ${join(earlier)} from ${raw(table ?? "")}, generate_series(1, ${OLDER}::int) back
      where workspace_id = ${workspaceId}`);
  }
  const sums = join(counters.map((counter) => raw(`sum(${counter})`)));
  await database.run(sql`delete from report_domain_weeks where workspace_id = ${workspaceId}`);
  await database.run(sql`
    insert into report_domain_weeks (workspace_id, week, domain, ${join(counters.map((counter) => raw(counter)))})
    select workspace_id, date_trunc('week', day)::date as week, domain, ${sums} from report_domain_days
    where workspace_id = ${workspaceId} group by 1, 2, 3 order by 1, 2, 3`);
  for (const table of ["report_quarters", "report_eighths", "report_domain_days", "report_domain_weeks"]) {
    await database.run(raw(`vacuum analyze ${table}`));
  }
}
