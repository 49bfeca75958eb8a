/**
 * Measures segments of a list of a million people over HTTP: counting (preview) with one rule and with nested rules, and
 * pages of a segment's members at any offset. Every answer is exact and read from the database. The yardstick is a scan
 * of the whole table in PostgreSQL.
 */
import sql from "sql-template-tag";
import { startProgram } from "#test/support/program.ts";
import { loadAudience } from "./audience-data.ts";
import type { BenchSetup } from "./setup.ts";
import { type Figure, grouped, median } from "./table.ts";

const PEOPLE = 1_000_000;
const RUNS = 20;
const PAGES = 100;
const MOST_ONE_MS = 150;
const MOST_NESTED_MS = 300;
const MOST_PAGE_MS = 20;

interface Rule {
  readonly field: string;
  readonly operator: string;
  readonly value: unknown;
}
type Conditions = { readonly logic: "and" | "or"; readonly rules: readonly (Rule | Conditions)[] };

const rule = (field: string, operator: string, value: unknown): Rule => ({ field, operator, value });
const and = (...rules: (Rule | Conditions)[]): Conditions => ({ logic: "and", rules });
const or = (...rules: (Rule | Conditions)[]): Conditions => ({ logic: "or", rules });

/** One rule for each kind of value and each kind of index. */
const oneRule = (half: string): Readonly<Record<string, Rule>> => ({
  status: rule("status", "is_not", "unsubscribed"),
  "a domain": rule("email_domain", "equals", "gmail.com"),
  "ends of domains": rule("email_domain", "ends_with_any_of", [".de", ".org"]),
  "a part of the address": rule("email", "contains", "an"),
  "a part of the name": rule("first_name", "contains", "an"),
  "a choice": rule("plan", "equals", "pro"),
  "yes or no": rule("vip", "is", true),
  "a number of one's own": rule("score", "greater_than", 500),
  "a text of one's own": rule("custom_fields.city", "equals", "paris"),
  engagement: rule("engagement_score", "greater_than_or_equal", 50),
  "has not opened": rule("last_opened_at", "not_in_last_days", 30),
  "another list": rule("mailing_list", "is_active_in", half),
});

/** Nested conditions on status, domain, custom fields, engagement and lists. */
const nested = (half: string): Readonly<Record<string, Conditions>> => ({
  "3 rules": and(
    rule("status", "is", "active"),
    or(
      rule("email_domain", "is_one_of", ["gmail.com", "web.de"]),
      rule("engagement_score", "greater_than", 60),
    ),
  ),
  "4 rules": and(
    rule("status", "is", "active"),
    or(rule("plan", "equals", "pro"), rule("custom_fields.city", "equals", "paris")),
    rule("mailing_list", "is_not_active_in", half),
  ),
  "5 rules": and(
    rule("status", "is", "active"),
    rule("email_domain", "does_not_end_with_any_of", [".de"]),
    or(rule("plan", "equals", "pro"), rule("engagement_score", "greater_than_or_equal", 50)),
    rule("mailing_list", "is_active_in", half),
  ),
  "5 rules, any status": or(
    and(rule("mailing_list", "is_active_in", half), rule("last_opened_at", "in_last_days", 60)),
    and(
      rule("email_domain", "equals", "gmail.com"),
      rule("score", "less_than", 300),
      rule("status", "is_not", "bounced"),
    ),
  ),
});

export async function benchSegments(setup: BenchSetup): Promise<Figure[]> {
  const { everybody, half } = await loadAudience(setup.database, setup.workspaceId, PEOPLE);
  await using service = await startProgram(setup.environment, ["serve", "--roles", "api"]);
  const call = async (method: string, path: string, body?: object) => {
    const answer = await service.call(method, path, body, { key: setup.apiKey });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body.error}`);
    return answer.body.data;
  };
  const list = `/mailing-lists/${everybody}`;
  for (const field of [
    { field_name: "plan", field_type: "select", field_options: ["free", "pro", "team"] },
    { field_name: "score", field_type: "number" },
    { field_name: "vip", field_type: "boolean" },
  ]) {
    await call("POST", `${list}/custom-fields`, { ...field, field_label: field.field_name });
  }
  const scan = await times(() =>
    setup.database.run(sql`
      select count(*) from subscribers where workspace_id = ${setup.workspaceId} and status <> 'gone'`),
  );
  const preview = async (what: string, conditions: Conditions, most: number): Promise<Figure> => {
    let count = 0;
    const taken = await times(async () => {
      count = (await call("POST", `${list}/segments/preview`, { conditions })).subscriber_count;
    });
    return figureOf(`preview: ${what} (${grouped(count)})`, taken, most, scan);
  };
  const figures: Figure[] = [];
  for (const [what, one] of Object.entries(oneRule(half))) {
    figures.push(await preview(what, and(one), MOST_ONE_MS));
  }
  for (const [what, conditions] of Object.entries(nested(half))) {
    figures.push(await preview(what, conditions, MOST_NESTED_MS));
  }
  for (const [what, conditions] of [
    ["half of all", and(rule("engagement_score", "greater_than_or_equal", 50))],
    ["few of all", and(rule("vip", "is", true), rule("plan", "equals", "pro"))],
  ] as const) {
    figures.push(await pages(what, conditions));
  }
  return figures;

  /** Measures pages spread over the whole segment, including the first, which counts the members. */
  async function pages(what: string, conditions: Conditions): Promise<Figure> {
    const { id, subscriber_count } = await call("POST", `${list}/segments`, { name: what, conditions });
    const last = Math.floor(subscriber_count / 50);
    let next = 0;
    const taken = await times(async () => {
      const page = 1 + Math.floor((last * next++) / PAGES);
      await call("GET", `${list}/segments/${id}/subscribers?page=${page}`);
    }, PAGES);
    return figureOf(`page of members: ${what} (${grouped(subscriber_count)})`, taken, MOST_PAGE_MS);
  }
}

/** Duration of each run in milliseconds. */
async function times(run: () => Promise<unknown>, runs = RUNS): Promise<number[]> {
  const taken: number[] = [];
  for (let at = 0; at < runs; at++) {
    const from = performance.now();
    await run();
    taken.push(performance.now() - from);
  }
  return taken;
}

function figureOf(what: string, taken: readonly number[], most: number, scan?: readonly number[]): Figure {
  const p95 = taken.toSorted((a, b) => a - b)[Math.ceil(taken.length * 0.95) - 1] ?? Number.NaN;
  return {
    what,
    measured: `p50 ${median(taken).toFixed(0)}, p95 ${p95.toFixed(0)} ms`,
    ...(scan && { yardstick: `${median(scan).toFixed(0)} ms`, ratio: median(taken) / median(scan) }),
    aim: `p95 < ${most} ms`,
    isMet: p95 < most,
  };
}
