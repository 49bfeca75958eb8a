/**
 * The one door through which every outcome passes: it moves the state, where that move is legal, and writes the
 * event. It runs inside the caller's transaction, hundreds of outcomes a statement.
 */
import sql from "sql-template-tag";
import type { Queryable } from "../platform/database/pool.ts";
import { newId } from "../platform/ids.ts";
import type { Outcome } from "./outcome.ts";
import { reachableFrom } from "./states.ts";

const KEPT_DETAIL = 500;

/** [to, from] pairs of every legal move, as the statement wants them. */
const legalMoves = Object.entries(reachableFrom).flatMap(([to, froms]) =>
  froms.map((from) => [to, from] as const),
);

/** Outcomes that would be an illegal move (a late bounce of a complained message) leave no trace. */
export async function recordOutcomes(tx: Queryable, outcomes: readonly Outcome[]): Promise<void> {
  if (outcomes.length === 0) return;
  const column = <Value>(read: (outcome: Outcome) => Value) => outcomes.map(read);
  const detail = (outcome: Outcome) => outcome.detail.slice(0, KEPT_DETAIL).toWellFormed();
  await tx.rows(
    sql`
    with outcome as materialized (
      select * from unnest(
        ${column((one) => one.workspaceId)}::uuid[], ${column((one) => one.messageId)}::uuid[],
        ${column(() => newId())}::uuid[], ${column((one) => one.status)}::text[],
        ${column((one) => one.time)}::timestamptz[], ${column((one) => one.attempts)}::smallint[],
        ${column((one) => one.nextAttemptAt)}::timestamptz[], ${column(detail)}::text[],
        ${column((one) => one.mxHost)}::text[], ${column((one) => one.code)}::smallint[],
        ${column((one) => one.enhancedCode)}::text[])
        as o (workspace_id, message_id, event_id, status, time, attempts, next_attempt_at, detail, mx_host, code, enhanced_code)
    ), legal as materialized (
      select * from unnest(${legalMoves.map(([to]) => to)}::text[], ${legalMoves.map(([, from]) => from)}::text[]) as l ("to", "from")
    ), moved as (
      update messages m
      set status = o.status, attempts = coalesce(o.attempts, m.attempts), next_attempt_at = o.next_attempt_at,
          error_message = case when o.status = 'delivered' then null else o.detail end, updated_at = o.time
      from outcome o
      where m.workspace_id = o.workspace_id and m.id = o.message_id
        and exists (select from legal l where l."to" = o.status and l."from" = m.status)
      returning o.workspace_id, o.message_id, o.event_id, o.status, o.time, o.attempts, o.detail, o.mx_host, o.code, o.enhanced_code
    )
    insert into message_events (workspace_id, message_id, id, type, time, attempt, detail, mx_host, code, enhanced_code)
    select * from moved`,
    "record outcomes",
  );
}
