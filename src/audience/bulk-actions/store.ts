/** The batches of bulk actions, and the people in them. */
import sql, { empty, type Sql } from "sql-template-tag";
import { selectedIdsSql } from "#audience/subscribers/filtered-people-store.ts";
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import type { BulkActionInput } from "./bulk-action.ts";

/** People of one batch: a transaction of about a second at most. */
const BATCH = 1_000;

export interface RefusedPerson {
  readonly id: string;
  readonly reason: string;
}

export interface BatchCounts {
  readonly changed: number;
  readonly unchanged: number;
  readonly refused: readonly RefusedPerson[];
}

export interface JobKey {
  readonly workspaceId: WorkspaceId;
  readonly jobId: string;
}

/** Chooses the people of a job, unless an earlier run has: a later look would see people whom it has changed. */
export async function chooseOnce(
  tx: Queryable,
  { workspaceId, jobId }: JobKey,
  input: BulkActionInput,
): Promise<void> {
  const { selection, ids, except_ids } = input;
  const chosen: Sql =
    selection === null
      ? sql`(select unnest(${ids ?? []}::uuid[]) as id)`
      : sql`(select id from ${selectedIdsSql(workspaceId, selection)} found
          where not exists (select from unnest(${except_ids}::uuid[]) spared (id) where spared.id = found.id))`;
  await tx.run(sql`
    insert into bulk_action_batches (workspace_id, job_id, batch, subscriber_ids)
    select ${workspaceId}, ${jobId}, batch, array_agg(id order by id)
    from (select id, ((row_number() over (order by id) - 1) / ${BATCH}::int)::int as batch from ${chosen} c) p
    where not exists (select from bulk_action_batches where workspace_id = ${workspaceId} and job_id = ${jobId})
    group by batch
    on conflict do nothing`);
}

export interface BulkTotals {
  readonly total: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly refused: number;
  /** The first batch that is not done; null when all are. */
  readonly next: number | null;
}

export async function sumBatches(db: Queryable, { workspaceId, jobId }: JobKey): Promise<BulkTotals> {
  const row = await db.row<BulkTotals>(sql`
    select coalesce(sum(cardinality(subscriber_ids)), 0)::int as total, coalesce(sum(changed), 0)::int as changed,
      coalesce(sum(unchanged), 0)::int as unchanged, coalesce(sum(jsonb_array_length(refused)), 0)::int as refused,
      min(batch) filter (where not is_done) as next
    from bulk_action_batches where workspace_id = ${workspaceId} and job_id = ${jobId}`);
  return row ?? { total: 0, changed: 0, unchanged: 0, refused: 0, next: null };
}

/** The people of a batch that is not done, locked until the transaction ends; undefined if another run did it. */
export async function lockBatch(
  tx: Queryable,
  { workspaceId, jobId }: JobKey,
  batch: number,
): Promise<readonly string[] | undefined> {
  const row = await tx.row<{ ids: string[] }>(sql`
    select subscriber_ids as ids from bulk_action_batches
    where workspace_id = ${workspaceId} and job_id = ${jobId} and batch = ${batch} and not is_done for update`);
  return row?.ids;
}

export async function settleBatch(
  tx: Queryable,
  { workspaceId, jobId }: JobKey,
  batch: number,
  { changed, unchanged, refused }: BatchCounts,
): Promise<void> {
  await tx.run(sql`
    update bulk_action_batches
    set is_done = true, changed = ${changed}, unchanged = ${unchanged}, refused = ${JSON.stringify(refused)}::jsonb
    where workspace_id = ${workspaceId} and job_id = ${jobId} and batch = ${batch} and not is_done`);
}

/** The refused people of the next batches after one, in order; at most `most` batches. */
export function listRefused(
  db: Queryable,
  { workspaceId, jobId }: JobKey,
  after: number,
  most: number,
): Promise<{ readonly batch: number; readonly refused: readonly RefusedPerson[] }[]> {
  return db.rows(sql`
    select batch, refused from bulk_action_batches
    where workspace_id = ${workspaceId} and job_id = ${jobId} and batch > ${after} and refused <> '[]'
    order by batch limit ${most}`);
}

export interface LockedPerson {
  readonly id: string;
  readonly email: string;
}

/** Those of the people who exist, locked in the order of their addresses, as all transactions do. */
export function lockThese(
  tx: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly string[],
): Promise<LockedPerson[]> {
  return tx.rows(sql`
    select id, email from subscribers where workspace_id = ${workspaceId} and id = any(${ids}::uuid[])
    order by email for update`);
}

export interface MembershipState {
  readonly subscriber_id: string;
  readonly mailing_list_id: string;
  readonly email: string;
  readonly status: SubscriberStatus;
}

/** The memberships of the people, on one list or (null) on all. */
export function listMembershipStates(
  tx: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly string[],
  mailingListId: string | null,
): Promise<MembershipState[]> {
  return tx.rows(sql`
    select m.subscriber_id, m.mailing_list_id, s.email, m.status
    from unnest(${ids}::uuid[]) asked (id)
    join subscribers s on s.workspace_id = ${workspaceId} and s.id = asked.id
    join memberships m on m.workspace_id = ${workspaceId} and m.subscriber_id = asked.id
      ${mailingListId === null ? empty : sql`and m.mailing_list_id = ${mailingListId}`}`);
}

/** The people, with a column for each required field that they lack. */
export function listLacking(
  tx: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly string[],
  required: readonly string[],
): Promise<{ readonly id: string; readonly lacks: string }[]> {
  return tx.rows(sql`
    select s.id, n.name as lacks from subscribers s
    cross join lateral (
      select name from unnest(${required}::text[]) r (name) where not s.custom_fields ? r.name limit 1) n
    where s.workspace_id = ${workspaceId} and s.id = any(${ids}::uuid[])`);
}

/** A relation of people who join a list, for insertMembers. */
export function memberRelation(people: readonly LockedPerson[]): Sql {
  return sql`(
    select *, null::text as first_name, null::text as last_name, 'bulk action' as source, null::text as status,
      '{}'::jsonb as custom_fields
    from unnest(${people.map(() => newId())}::uuid[], ${people.map(({ email }) => email)}::text[]) p (id, email))`;
}

/** A relation of memberships and their new status, for updateStatuses. */
export function statusRelation(memberships: readonly MembershipState[], status: string): Sql {
  return sql`
    select l.list as mailing_list_id, l.person as subscriber_id, ${status}::text as status
    from unnest(${memberships.map((one) => one.mailing_list_id)}::uuid[], ${memberships.map((one) => one.subscriber_id)}::uuid[])
      as l (list, person)`;
}
