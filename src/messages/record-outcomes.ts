/**
 * Records outcomes of messages. Every change of status after acceptance is made here: the statement moves the status
 * where that is legal, writes the event, the bounce or complaint record and the counter deltas. Then `onMoved` runs
 * (campaign counters, suppression, webhooks). All of it happens in the caller's transaction, hundreds of outcomes in
 * one statement.
 */
import { isIP } from "node:net";
import sql, { type Sql } from "sql-template-tag";
import { textArray, uuidArray } from "#platform/database/binary-arrays.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { addBounceTypeDeltasSql, addStatusDeltasSql } from "./counters/deltas-store.ts";
import type { Classification, MovedMessage, OnMoved, Outcome } from "./message/outcome.ts";
import { reachableFrom } from "./message/status.ts";
import { inSpanOfSql } from "./partitions/ids-span.ts";

const KEPT_DETAIL = 500;
const KEPT_NAME = 100;

/**
 * Legal changes of status as "from to". They are an array and not a joined relation: a join would reorder the outcomes,
 * and with them the row locks.
 */
const legalMoves = Object.entries(reachableFrom).flatMap(([to, froms]) =>
  froms.map((from) => `${from} ${to}`),
);

/**
 * The bounce record of the message `m`, which is one of `ids` and has the id of the message's first bounce event.
 * `offset 0` makes PostgreSQL look it up message by message, whatever its statistics say.
 */
const recordedBounce = (messageId: Sql, ids: readonly string[]) => sql`
  select b.ctid as place, b.bounce_type, b.category, b.created_at
  from message_events e join bounces b on b.workspace_id = e.workspace_id and b.id = e.id
  where e.workspace_id = m.workspace_id and e.message_id = ${messageId} ${inSpanOfSql(sql`e.message_id`, ids)}
    and e.type = 'bounced' offset 0`;

/** A changed message as the statement returns it, with the position (from 1) of its outcome. */
type MovedRow = Omit<MovedMessage, Exclude<keyof Outcome, "attempts" | "sourceIp">> & {
  readonly place: number;
};

/** The outcome as it is stored: texts cut to their maximum, a class for each bounce, a type for each complaint. */
function kept(outcome: Outcome): Outcome {
  const { status, detail, complaint } = outcome;
  const name = (text: string) => text.slice(0, KEPT_NAME).toWellFormed();
  const provider = complaint?.provider ?? null;
  return {
    ...outcome,
    detail: detail.slice(0, KEPT_DETAIL).toWellFormed(),
    classification: classify(outcome),
    complaint:
      status === "complained"
        ? { feedbackType: name(complaint?.feedbackType ?? "abuse"), provider: provider && name(provider) }
        : null,
  };
}

/** The class of a bounce; unclassified bounces are hard when the address is at fault, otherwise soft. */
function classify({ status, classification, isAddressFault }: Outcome): Classification | null {
  if (status !== "bounced") return null;
  return classification ?? { type: isAddressFault ? "hard" : "soft", category: "Undetermined" };
}

/** The openings that the outcomes name, each once for a workspace, in the order of ids. */
function openingsOf(outcomes: readonly Outcome[]) {
  const openings = outcomes.flatMap(({ workspaceId, conversation }) =>
    conversation ? { workspaceId, ...conversation.opening } : [],
  );
  const distinct = new Map(openings.map((one) => [`${one.workspaceId} ${one.id}`, one]));
  return [...distinct].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

/** For an inet column: without the zone of a link-local address; null when it is not an address. */
function ipAddress(text: string | null): string | null {
  const address = text?.split("%", 1)[0] ?? "";
  return isIP(address) === 0 ? null : address;
}

/**
 * Records outcomes. An illegal change of status (such as a late bounce of a message that was complained about) is
 * ignored. `onMoved` gets the changed messages, and is not called when there are none.
 * A bounce whose address was not at fault may be reclassified once the address is found invalid: `from` is then
 * `bounced`, too. It stays one bounce, at its original time. Callers that reclassify lock the message first, so that it
 * counts once.
 */
export async function recordOutcomes(
  tx: Queryable,
  outcomes: readonly Outcome[],
  onMoved: OnMoved,
): Promise<void> {
  if (outcomes.length === 0) return;
  // All writers lock messages in the order of ids.
  const inOrder = outcomes.map(kept).sort((a, b) => (a.messageId < b.messageId ? -1 : 1));
  const column = <Value>(read: (outcome: Outcome) => Value) => inOrder.map(read);
  const ids = column((one) => one.messageId);
  const openings = openingsOf(inOrder);
  // Columns of the outcome itself are not returned: the position identifies it.
  const rows = await tx.rows<MovedRow>(
    sql`
    with outcome as materialized (
      select * from unnest(
        ${uuidArray(column((one) => one.workspaceId))}::uuid[], ${uuidArray(ids)}::uuid[],
        ${uuidArray(column(() => newId()))}::uuid[], ${textArray(column((one) => one.status))}::text[],
        ${column((one) => one.time)}::timestamptz[], ${column((one) => one.attempts)}::smallint[],
        ${column((one) => one.nextAttemptAt)}::timestamptz[], ${textArray(column((one) => one.detail))}::text[],
        ${textArray(column((one) => one.mxHost))}::text[], ${column((one) => one.code)}::smallint[],
        ${column((one) => one.enhancedCode)}::text[], ${column((one) => one.isAddressFault)}::boolean[],
        ${column((one) => one.classification?.type)}::text[], ${column((one) => one.classification?.category)}::text[],
        ${column((one) => one.complaint?.feedbackType)}::text[], ${column((one) => one.complaint?.provider)}::text[],
        ${column((one) => ipAddress(one.sourceIp))}::inet[],
        ${column((one) => (one.tls ? JSON.stringify(one.tls) : null))}::jsonb[],
        ${uuidArray(column((one) => one.conversation?.opening.id ?? null))}::uuid[],
        ${textArray(column((one) => one.conversation?.lines ?? null))}::text[])
        with ordinality as o (workspace_id, message_id, event_id, status, time, attempts, next_attempt_at, detail, mx_host, code,
          enhanced_code, is_address_fault, bounce_type, category, feedback_type, provider, left_from, tls, opening_id, conversation, place)
    ), openings as (
      insert into smtp_openings (workspace_id, id, lines)
      select * from unnest(
        ${uuidArray(openings.map((one) => one.workspaceId))}::uuid[], ${uuidArray(openings.map((one) => one.id))}::uuid[],
        ${textArray(openings.map((one) => one.lines))}::text[]) as c (workspace_id, id, lines)
      on conflict do nothing
    ), moved as (
      update messages m
      set status = o.status, previous_status = m.status, attempts = coalesce(o.attempts, m.attempts), next_attempt_at = o.next_attempt_at,
          -- An SMS that is deferred without a next attempt was accepted by the gateway and awaits its receipt.
          error_message = case
            when o.status = 'delivered' or (o.status = 'deferred' and o.next_attempt_at is null) then null
            else o.detail end,
          updated_at = o.time,
          source_ip = coalesce(o.left_from, m.source_ip), previous_source_ip = m.source_ip
      from outcome o
      where m.workspace_id = o.workspace_id and m.id = o.message_id ${inSpanOfSql(sql`m.id`, ids)}
        and m.status || ' ' || o.status = any (${legalMoves}::text[])
        and case when m.status = 'bounced' and o.status = 'bounced'
          then o.is_address_fault and case
            -- Platform mail has no bounce record: it is reclassified once, whatever its first class was.
            when m.source = 'platform' then m.previous_status is distinct from 'bounced'
            else (select bounce_type <> 'hard' from (${recordedBounce(sql`m.id`, ids)}) b) end
          else true end
      returning o.*, m.localpart, m.domain, m.is_sms, m.email_details, m.source, m.origin_id, m.origin_name, m.from_email, m.created_at,
        m.previous_status, m.source_ip, m.previous_source_ip, m.attempts as attempts_made,
        case when m.source = 'campaign' then m.origin_id end as campaign_id
    ), events as (
      insert into message_events (workspace_id, message_id, id, type, time, attempt, detail, mx_host, code,
        enhanced_code, source_ip, tls, opening_id, conversation, campaign_id)
      select workspace_id, message_id, event_id, status, time, attempts, detail, mx_host, code, enhanced_code,
        left_from, tls, opening_id, conversation, campaign_id
      from moved
    ), hardened as materialized (
      select m.*, b.place as bounce_place, b.bounce_type as former_type, b.category as former_category,
        b.created_at as bounced_at
      from moved m cross join lateral (${recordedBounce(sql`m.message_id`, ids)}) b
      where m.status = 'bounced' and m.previous_status = 'bounced'
    ), reclassified as (
      update bounces b
      set bounce_type = h.bounce_type, category = h.category, smtp_code = h.code, enhanced_code = h.enhanced_code,
        error_message = h.detail
      from hardened h where b.workspace_id = h.workspace_id and b.ctid = h.bounce_place
    ), bounced as (
      insert into bounces (workspace_id, id, message_id, localpart, domain, bounce_type, category, smtp_code, enhanced_code,
        error_message, source, campaign_id, origin_name, created_at)
      select workspace_id, event_id, message_id, localpart, domain, bounce_type, category, code, enhanced_code, detail,
        source, campaign_id, origin_name, time
      from moved where status = 'bounced' and previous_status <> 'bounced' and source <> 'platform'
    ), complained as (
      insert into complaints (workspace_id, id, message_id, localpart, domain, feedback_type, provider, source,
        campaign_id, origin_name, created_at)
      select workspace_id, event_id, message_id, localpart, domain, feedback_type, provider, source,
        campaign_id, origin_name, time
      from moved where status = 'complained' and source <> 'platform'
    ), status_deltas as (
      ${addStatusDeltasSql(sql`moved`)}
    ), bounce_deltas as (
      ${addBounceTypeDeltasSql(sql`hardened`)}
    )
    select place, source, origin_id as "originId", origin_name as "originName", from_email as "fromEmail",
      is_sms as "isSms", email_details as "emailDetails", localpart, domain, previous_status as "from", attempts_made as attempts,
      host(source_ip) as "sourceIp"
    from moved`,
    "record outcomes",
  );
  const moved = rows.map(({ place, ...row }): MovedMessage => {
    const outcome = inOrder[place - 1];
    if (outcome === undefined) throw new Error(`no outcome has the position ${place}`);
    return { ...outcome, ...row };
  });
  if (moved.length > 0) await onMoved(tx, moved);
}

/** A notice that a later server has not delivered the message yet (RFC 3464, action "delayed"). It changes no status. */
export interface DelayNotice {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
  /** A UUID derived from the notice, so that a repeated notice writes one event. */
  readonly id: string;
  readonly time: Date;
  /** The text of the notice; at most 500 characters are kept. */
  readonly detail: string;
  readonly mxHost: string | null;
  readonly enhancedCode: string | null;
}

/** Writes the event `delayed`, and says whether it is new. */
export async function insertDelayNotice(tx: Queryable, notice: DelayNotice): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into message_events (workspace_id, message_id, id, type, time, detail, mx_host, enhanced_code)
    values (${notice.workspaceId}, ${notice.messageId}, ${notice.id}, 'delayed', ${notice.time},
      ${notice.detail.slice(0, KEPT_DETAIL).toWellFormed()}, ${notice.mxHost}, ${notice.enhancedCode})
    on conflict do nothing`);
  return inserted > 0;
}
