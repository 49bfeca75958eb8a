/**
 * Test data of an audience: people with names, mail providers, custom fields and engagement as in a shop, on a list of
 * all and a list of every second person. They are written like an import: COPY to staging, then membership changes.
 */

import sql from "sql-template-tag";
import { insertMembers } from "#audience/subscribers/memberships/add-members.ts";
import { stage, staged } from "#audience/subscribers/memberships/staging-table.ts";
import type { Database } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { newList } from "#test/support/audience.ts";

export interface BenchAudience {
  /** The list of all people. */
  readonly everybody: string;
  /** The list of every second person. */
  readonly half: string;
  /** Rows per second of COPY and membership changes for the first list, with all indexes. */
  readonly rate: number;
}

const firstNames =
  "Anna Bob Clara David Emma Felix Greta Hans Ida Jonas Karla Lukas Maria Noah Olga Paul Rosa".split(" ");
const lastNames =
  "Smith Jones Garcia Miller Davis Lopez Wilson Moore Lee White Harris Clark Lewis Young Hill".split(" ");
const cities = ["Berlin", "Paris", "London", "Rome", "Madrid", "Vienna", "Oslo", "Prague"];
const plans = ["free", "pro", "team"];
const providers = ["gmail.com", "gmail.com", "gmail.com", "yahoo.com", "outlook.com", "web.de"];

const CHUNK = 20_000;
/** Concurrent chunks: PostgreSQL writes one while the next is generated. */
const AT_ONCE = 2;

/** The CSV line of a person. All values are derived from the number, so that every run has the same people. */
export function personLine(number: number, id: string): string {
  const pick = <Value>(values: readonly Value[], salt: number): Value | "" =>
    values[Math.floor(((number * 2_654_435_761 + salt * 40_503) % 4_294_967_296) / 65_536) % values.length] ??
    "";
  const [first, last] = [pick(firstNames, 1), pick(lastNames, 2)];
  const domain = number % 3 === 0 ? `company${number % 20_000}.com` : pick(providers, 3);
  const email = `${first}.${last}${number}@${domain}`.toLowerCase();
  const status = number % 100 < 3 ? "unsubscribed" : number % 100 === 3 ? "bounced" : "active";
  const fields = {
    city: pick(cities, 4),
    plan: pick(plans, 5),
    score: number % 1_000,
    vip: number % 50 === 0,
  };
  return [number, id, email, first, last, "bench", status, JSON.stringify(fields)].join("\t");
}

/**
 * Inserts `people` people (half a minute for a million) and runs VACUUM ANALYZE.
 * @param line generates a line, like personLine
 */
export async function loadAudience(
  database: Database,
  workspaceId: WorkspaceId,
  people: number,
  line = personLine,
): Promise<BenchAudience> {
  const [everybody, half] = [
    await newList(database, workspaceId, "Everybody"),
    await newList(database, workspaceId, "Half"),
  ];
  const startedAt = performance.now();
  await importPeople(database, workspaceId, everybody, people, 1, line);
  const rate = people / ((performance.now() - startedAt) / 1_000);
  await importPeople(database, workspaceId, half, people, 2, line);
  await engage(database, workspaceId);
  await database.run(sql`vacuum analyze subscribers, subscriber_stats, memberships`);
  return { everybody, half, rate };
}

/** Imports every `step`-th of the people 1 to `people` into a list. @param line generates a line, like personLine */
export async function importPeople(
  database: Database,
  workspaceId: WorkspaceId,
  mailingListId: string,
  people: number,
  step: number,
  line = personLine,
): Promise<void> {
  let next = 1;
  const work = async () => {
    while (next <= people) {
      const first = next;
      next += CHUNK * step;
      const lines = chunkOf(first, Math.min(people, next - 1), step, line);
      await database.transaction(async (tx) => {
        await stage(tx, lines);
        const options = { people: staged, now: new Date(), updateExisting: true, resubscribe: false };
        await insertMembers(tx, workspaceId, { mailingListId, ...options });
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

function* chunkOf(first: number, last: number, step: number, line: typeof personLine): Generator<string> {
  const LINES = 500;
  for (let from = first; from <= last; from += LINES * step) {
    let text = "";
    for (let number = from; number <= Math.min(last, from + (LINES - 1) * step); number += step) {
      text += `${line(number, newId())}\n`;
    }
    yield text;
  }
}

/**
 * Writes engagement as campaigns do: most people got mail, a third opened, some clicked. Each step updates few rows of a
 * page, so that PostgreSQL can store the new row versions on the same page (HOT updates).
 */
async function engage(database: Database, workspaceId: WorkspaceId): Promise<void> {
  const STEPS = 16;
  for (let step = 0; step < STEPS; step++) {
    await database.run(sql`
      update subscribers
      set open_count = (hash >> 3) & 15, unique_open_count = (hash >> 3) & 7,
        click_count = (hash >> 7) & 3, unique_click_count = (hash >> 7) & 1,
        engagement_score = (hash & 127) * 100 / 127,
        last_opened_at = case when hash % 3 = 0 then now() - make_interval(days => (hash >> 5) & 255) end,
        last_clicked_at = case when hash % 7 = 0 then now() - make_interval(days => (hash >> 5) & 255) end
      from (select id as person, hashtext(email) as hash from subscribers where workspace_id = ${workspaceId}) h
      where workspace_id = ${workspaceId} and id = person and (hash >> 16) & ${STEPS - 1} = ${step}`);
    await database.run(sql`
      update subscriber_stats t
      set sent_count = 20, delivered_count = 20, first_sent_at = now() - interval '1 year',
        last_sent_at = now() - make_interval(days => hash & 31), last_opened_at = h.last_opened_at,
        last_clicked_at = h.last_clicked_at
      from (select id as person, hashtext(email) as hash, last_opened_at, last_clicked_at from subscribers
        where workspace_id = ${workspaceId}) h
      where workspace_id = ${workspaceId} and subscriber_id = person and (hash >> 16) & ${STEPS - 1} = ${step}`);
  }
}
