/** How far the mail of each workspace has been read to recalculate engagement scores (refresh-engagement-scores.ts). */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import { nilId, type WorkspaceId } from "#platform/ids.ts";
import { tablesOf } from "#sending/bulk-origin-tables-store.ts";

/** The mail of a workspace after a message id: ids begin with the time. */
export interface UnscoredMail {
  readonly workspaceId: WorkspaceId;
  readonly scoredTo: string;
}

const mailOf = [tablesOf.campaign.recipients, tablesOf.autoresponder.recipients] as const;

/** The workspaces that have mail between their position and the message id `before`: one look into each index. */
export function listUnscored(db: Queryable, before: string): Promise<UnscoredMail[]> {
  const hasMailIn = (table: Sql) => sql`
    exists (select from ${table} m
      where m.workspace_id = w.id and m.message_id > coalesce(s.scored_to, ${nilId}) and m.message_id < ${before})`;
  return db.rows(sql`
    select w.id as "workspaceId", coalesce(s.scored_to, ${nilId}) as "scoredTo"
    from workspaces w left join scored_mail s on s.workspace_id = w.id
    where ${hasMailIn(mailOf[0])} or ${hasMailIn(mailOf[1])}
    order by w.id`);
}

export interface PageOfRecipients {
  /** Number of messages. */
  readonly seen: number;
  /** The id of the last message; null if there is none. */
  readonly last: string | null;
  /** Their recipients, each once. */
  readonly subscriberIds: readonly string[];
}

/** The recipients of the next `limit` messages of a workspace, up to the message id `before`. */
export async function findRecipientsAfter(
  db: Queryable,
  { workspaceId, scoredTo }: UnscoredMail,
  before: string,
  limit: number,
): Promise<PageOfRecipients> {
  const next = (table: Sql) => sql`
    (select message_id, subscriber_id from ${table}
    where workspace_id = ${workspaceId} and message_id > ${scoredTo} and message_id < ${before}
    order by message_id limit ${limit})`;
  const page = await db.row<PageOfRecipients>(sql`
    with mail as materialized (
      select message_id, subscriber_id from (${next(mailOf[0])} union all ${next(mailOf[1])}) m
      order by message_id limit ${limit}
    )
    select (select count(*)::int from mail) as seen,
      (select message_id from mail order by message_id desc limit 1) as last,
      array(select distinct subscriber_id from mail) as "subscriberIds"`);
  return page ?? { seen: 0, last: null, subscriberIds: [] };
}

/** Stores the position; a later one stays. */
export async function saveScoredTo(tx: Queryable, workspaceId: WorkspaceId, last: string): Promise<void> {
  await tx.run(sql`
    insert into scored_mail as s (workspace_id, scored_to) values (${workspaceId}, ${last})
    on conflict (workspace_id) do update set scored_to = greatest(s.scored_to, excluded.scored_to)`);
}

/** Limits how long each later statement of the transaction waits for a row that another one has locked. */
export async function limitLockWait(tx: Queryable, mostMs: number): Promise<void> {
  await tx.run(sql`select set_config('lock_timeout', ${String(mostMs)}, true)`);
}
