/** SQL of validations: the history, and the counts of results by day. */
import sql from "sql-template-tag";
import { ERASED } from "#messages/erase-recipient-store.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { addEntriesSql } from "#workspace/billing/meter-store.ts";
import type { Score, ValidationStatus } from "./score.ts";

export interface HistoryRow extends Score {
  readonly email: string;
  /** Validations charged: 0 or 1. */
  readonly cost: number;
  readonly created_at: Date;
}

export interface NewValidation extends HistoryRow {
  readonly id: string;
}

/** Adds results to the history. The caller charges for them in the same transaction. */
export async function insertValidations(
  tx: Queryable,
  workspaceId: WorkspaceId,
  rows: readonly NewValidation[],
): Promise<void> {
  if (rows.length === 0) return;
  await tx.run(sql`
    insert into validations (workspace_id, id, email, status, risk_score, cost, created_at)
    select ${workspaceId}, * from unnest(${rows.map(({ id }) => id)}::uuid[],
      ${rows.map(({ email }) => email)}::text[], ${rows.map(({ status }) => status)}::text[],
      ${rows.map(({ risk_score }) => risk_score)}::smallint[], ${rows.map(({ cost }) => cost)}::smallint[],
      ${rows.map(({ created_at }) => created_at)}::timestamptz[])`);
}

/** Sets the result of an address whose row was written before it was known. */
export async function updateScore(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  { status, risk_score }: Score,
): Promise<void> {
  await tx.run(sql`
    update validations set status = ${status}, risk_score = ${risk_score}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Removes a validation that failed on our side from the history, and refunds it. */
export async function removeUnanswered(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  now: Date,
): Promise<void> {
  const removed = await tx.run(
    sql`delete from validations where workspace_id = ${workspaceId} and id = ${id}`,
  );
  const back = sql`(select ${workspaceId}::uuid as workspace_id, ${-removed}::int as quantity) back`;
  await tx.run(addEntriesSql("validation", back, now));
}

/** Counts results on the day (UTC) of `now`. */
export async function countAnswers(
  tx: Queryable,
  workspaceId: WorkspaceId,
  given: readonly ValidationStatus[],
  now: Date,
): Promise<void> {
  const counts = [...Map.groupBy(given, (status) => status)].sort(([a], [b]) => (a < b ? -1 : 1));
  await tx.run(sql`
    insert into validation_days (workspace_id, day, status, count)
    select ${workspaceId}, ${now.toISOString().slice(0, 10)}::date, *
    from unnest(${counts.map(([status]) => status)}::text[], ${counts.map(([, all]) => all.length)}::bigint[])
    on conflict (workspace_id, day, status) do update set count = validation_days.count + excluded.count`);
}

/** Newest first. */
export function listValidations(db: Queryable, workspaceId: WorkspaceId, page: Page): Promise<HistoryRow[]> {
  return db.rows(sql`
    select email, status, risk_score, cost, created_at from validations where workspace_id = ${workspaceId}
    order by id desc limit ${page.limit} offset ${page.offset}`);
}

/** Counts by day and status since a day (YYYY-MM-DD, UTC). */
export function listDayCounts(
  db: Queryable,
  workspaceId: WorkspaceId,
  since: string,
): Promise<{ day: string; status: ValidationStatus; count: number }[]> {
  return db.rows(sql`
    select day::text, status, count from validation_days
    where workspace_id = ${workspaceId} and day >= ${since}::date`);
}

/** Removes up to `most` rows created before this time. @returns how many */
export function removeOldValidations(db: Queryable, before: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from validations where (workspace_id, id) in (
      select workspace_id, id from validations where created_at < ${before} limit ${most})`);
}

/** The validations of an address, newest first; at most 1,000. */
export function listValidationsOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  email: string,
): Promise<HistoryRow[]> {
  return db.rows(sql`
    select email, status, risk_score, cost, created_at from validations
    where workspace_id = ${workspaceId} and lower(email) = lower(${email}) order by id desc limit 1000`);
}

/** Erases an address from the history, whose rows stay: they say what was charged. @returns how many */
export function eraseAddress(tx: Queryable, workspaceId: WorkspaceId, email: string): Promise<number> {
  return tx.run(sql`
    update validations set email = ${ERASED}
    where workspace_id = ${workspaceId} and lower(email) = lower(${email})`);
}
