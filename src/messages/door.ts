/**
 * The one door through which every outcome passes: it moves the state, where that move is legal, writes the event, and
 * tells those who react to it (counters, suppression). All of it happens inside the caller's transaction, hundreds of
 * outcomes a statement.
 */
import sql from "sql-template-tag";
import type { Queryable } from "../platform/database/pool.ts";
import { newId } from "../platform/ids.ts";
import type { MovedMessage, OnMoved, Outcome } from "./outcome.ts";
import { reachableFrom } from "./states.ts";

const KEPT_DETAIL = 500;

/** [to, from] pairs of every legal move, as the statement wants them. */
const legalMoves = Object.entries(reachableFrom).flatMap(([to, froms]) =>
  froms.map((from) => [to, from] as const),
);

/**
 * Outcomes that would be an illegal move (a late bounce of a complained message) leave no trace. `onMoved` hears of
 * the others, and is not called when there are none.
 */
export async function recordOutcomes(
  tx: Queryable,
  outcomes: readonly Outcome[],
  onMoved: OnMoved,
): Promise<void> {
  if (outcomes.length === 0) return;
  const column = <Value>(read: (outcome: Outcome) => Value) => outcomes.map(read);
  const detail = (outcome: Outcome) => outcome.detail.slice(0, KEPT_DETAIL).toWellFormed();
  const moved = await tx.rows<MovedMessage>(
    sql`
    with outcome as materialized (
      select * from unnest(
        ${column((one) => one.workspaceId)}::uuid[], ${column((one) => one.messageId)}::uuid[],
        ${column(() => newId())}::uuid[], ${column((one) => one.status)}::text[],
        ${column((one) => one.time)}::timestamptz[], ${column((one) => one.attempts)}::smallint[],
        ${column((one) => one.nextAttemptAt)}::timestamptz[], ${column(detail)}::text[],
        ${column((one) => one.mxHost)}::text[], ${column((one) => one.code)}::smallint[],
        ${column((one) => one.enhancedCode)}::text[], ${column((one) => one.isAddressFault)}::boolean[])
        as o (workspace_id, message_id, event_id, status, time, attempts, next_attempt_at, detail, mx_host, code,
          enhanced_code, is_address_fault)
    ), legal as materialized (
      select * from unnest(${legalMoves.map(([to]) => to)}::text[], ${legalMoves.map(([, from]) => from)}::text[]) as l ("to", "from")
    ), moved as (
      update messages m
      set status = o.status, previous_status = m.status, attempts = coalesce(o.attempts, m.attempts), next_attempt_at = o.next_attempt_at,
          error_message = case when o.status = 'delivered' then null else o.detail end, updated_at = o.time
      from outcome o
      where m.workspace_id = o.workspace_id and m.id = o.message_id
        and exists (select from legal l where l."to" = o.status and l."from" = m.status)
      returning o.*, m.localpart, m.domain, m.source, m.origin_id, m.previous_status
    ), events as (
      insert into message_events (workspace_id, message_id, id, type, time, attempt, detail, mx_host, code,
        enhanced_code, campaign_id)
      select workspace_id, message_id, event_id, status, time, attempts, detail, mx_host, code, enhanced_code,
        case when source = 'campaign' then origin_id end
      from moved
    )
    select workspace_id as "workspaceId", message_id as "messageId", source, origin_id as "originId", localpart, domain,
      previous_status as "from", status, time, is_address_fault as "isAddressFault"
    from moved`,
    "record outcomes",
  );
  if (moved.length > 0) await onMoved(tx, moved);
}
