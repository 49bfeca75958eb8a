/**
 * Writes the people of an installation: each with a name, custom fields, a membership of the workspace's list, and what the
 * workspace's campaign has counted.
 */
import sql, { type Sql } from "sql-template-tag";
import type { Database } from "#platform/database/pool.ts";
import { withoutIndexes } from "../without-indexes.ts";
import { inParts } from "./in-parts.ts";
import { idOfSql, personIdSql } from "./seed-ids.ts";
import type { LogNumbers } from "./seed-log.ts";

const firstNames =
  "Anna Bob Clara David Emma Felix Greta Hans Ida Jonas Karla Lukas Maria Noah Olga Paul Rosa".split(" ");
const lastNames =
  "Smith Jones Garcia Miller Davis Lopez Wilson Moore Lee White Harris Clark Lewis Young Hill".split(" ");
const cities = ["Berlin", "Paris", "London", "Rome", "Madrid", "Vienna", "Oslo", "Prague"];
const INSERTED_AT_ONCE = 500_000;

/** People with consecutive numbers, in groups of one workspace each. */
export interface PeopleRange {
  readonly first: number;
  readonly count: number;
  /** The number of the first workspace; the next ones follow. */
  readonly workspace: number;
  readonly ofWorkspace: number;
  /** Whether their workspaces have sent a campaign. */
  readonly isMailed: boolean;
}

export async function seedPeople(
  db: Database,
  ranges: readonly PeopleRange[],
  log: LogNumbers,
): Promise<void> {
  const fill = async () => {
    for (const range of ranges) {
      await inParts(range.count, INSERTED_AT_ONCE, (from, end) => insertPeople(db, range, log, from, end));
    }
  };
  await withoutIndexes(db, ["subscribers", "subscriber_stats", "memberships"], fill);
  await db.run(sql`
    insert into list_counters (workspace_id, mailing_list_id, active)
    select workspace_id, mailing_list_id, count(*) from memberships group by 1, 2`);
  await db.run(sql`
    insert into subscriber_counters (workspace_id, active) select workspace_id, active from list_counters`);
}

async function insertPeople(
  db: Database,
  range: PeopleRange,
  log: LogNumbers,
  from: number,
  end: number,
): Promise<void> {
  const number = sql`(${range.first}::bigint + n)`;
  const workspace = sql`(${range.workspace}::bigint + n / ${range.ofWorkspace}::bigint)`;
  const mail = log.mailSql(sql`(n % ${range.ofWorkspace}::bigint)`, workspace);
  const ifMailed = (time: Sql) => sql`case when ${range.isMailed} then ${time} end`;
  // Each value is derived from the number, so that every installation has the same people.
  const pick = (values: readonly string[], salt: string): Sql =>
    sql`(${[...values]}::text[])[1 + (hashint8extended(${number}, ${salt}::bigint) & 2147483647) % ${values.length}]`;
  await db.run(sql`
    with person as materialized (
      select n, ${idOfSql("workspace", workspace)} as workspace_id, ${idOfSql("list", workspace)} as list_id, ${personIdSql(number)} as id,
        ${pick(firstNames, "1")} as first, ${pick(lastNames, "2")} as last, ${pick(cities, "3")} as city,
        ${ifMailed(mail.sentAt)} as sent_at, ${ifMailed(mail.openedAt)} as opened_at
      from generate_series(${from}::bigint, ${end - 1}::bigint) n
    ), joined as (
      insert into memberships (workspace_id, mailing_list_id, subscriber_id, status, source, subscribed_at, created_at, updated_at)
      select workspace_id, list_id, id, 'active', 'import', now(), now(), now() from person
    ), counted as (
      insert into subscriber_stats (workspace_id, subscriber_id, sent_count, delivered_count, first_sent_at, last_sent_at,
        last_opened_at)
      select workspace_id, id, (sent_at is not null)::int, (sent_at is not null)::int, sent_at, sent_at, opened_at from person
    )
    insert into subscribers (workspace_id, id, email, first_name, last_name, source, custom_fields, status, active_lists,
      open_count, unique_open_count, last_opened_at, engagement_score, created_at, updated_at)
    select workspace_id, id, lower(first || '.' || last) || ${number} || '@mail' || n % 2000 || '.test', first, last, 'import',
      jsonb_build_object('city', city, 'plan', (array['free', 'pro', 'team'])[1 + n % 3], 'score', n % 1000),
      'active', uuid_send(list_id), (opened_at is not null)::int, (opened_at is not null)::int, opened_at,
      -- An opening of the only message, by engagementScores.
      case when opened_at is null then 0 else 25 end, now(), now()
    from person`);
}
