/** The transitions between statuses of a campaign. Each is one statement that names the statuses it may start from. */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Campaign } from "./campaign.ts";

/** A draft to be sent, with the results of the checks. */
export interface Dispatch {
  readonly id: string;
  /** The revision that was checked. */
  readonly revision: number;
  /** If in the future, the campaign becomes `scheduled`. */
  readonly scheduledAt: Date | null;
  readonly warnings: Campaign["warnings"];
  /** The estimated number of recipients. */
  readonly estimate: number;
}

/** Sends a draft. False when it was sent or changed since it was checked. */
export async function sendDraft(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, revision, scheduledAt, warnings, estimate }: Dispatch,
  now: Date,
): Promise<boolean> {
  const isLater = scheduledAt !== null && scheduledAt > now;
  const sent = await tx.run(sql`
    update campaigns
    set status = ${isLater ? "scheduled" : "sending"}, sent_at = ${isLater ? null : now}::timestamptz,
      scheduled_at = ${scheduledAt}::timestamptz, warnings = ${JSON.stringify(warnings)}::jsonb,
      estimated_recipients = ${estimate}, updated_at = ${now}, approval_requested_at = null,
      approval_requested_by = null, approval_message = null, approval_revision = null
    where workspace_id = ${workspaceId} and id = ${id} and status = 'draft' and revision = ${revision}`);
  return sent > 0;
}

/** Asks for approval of a draft. False when it was asked already, sent or changed since it was checked. */
export async function askForApproval(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, revision }: Pick<Campaign, "id" | "revision">,
  { by, message, now }: { readonly by: string; readonly message: string | null; readonly now: Date },
): Promise<boolean> {
  const asked = await tx.run(sql`
    update campaigns
    set approval_requested_at = ${now}, approval_requested_by = ${by}, approval_message = ${message},
      approval_revision = revision
    where workspace_id = ${workspaceId} and id = ${id} and status = 'draft' and revision = ${revision}
      and deleted_at is null and approval_revision is distinct from revision`);
  return asked > 0;
}

/** Changes one campaign. False when its status is not in `from`. */
const transition = async (tx: Queryable, workspaceId: WorkspaceId, id: string, change: Sql, from: Sql) =>
  (await tx.run(sql`
    update campaigns set ${change} where workspace_id = ${workspaceId} and id = ${id} and ${from}`)) > 0;

/** Whether a paused campaign only makes no more recipients, because of plan or balance. Its queued mail is still sent. */
export const isUnpaidFor = sql`coalesce(pause_reason in ('plan_limit_reached', 'insufficient_balance'), false)`;

/**
 * @param reason null when a person pauses. A pause by the service has a reason, and also stops the deferred messages of a
 * campaign that is sent, until it is resumed. A deleted campaign cannot be resumed, so it is cancelled instead.
 */
export function pauseCampaign(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  reason: PauseReason | null,
  now: Date,
): Promise<boolean> {
  const change = sql`
    status = case when deleted_at is null then 'paused' else 'cancelled' end, paused_at = ${now},
    pause_reason = ${reason}, completed_at = case when deleted_at is null then null else ${now}::timestamptz end,
    updated_at = ${now}`;
  const isSending = sql`(status = 'sending' or status = 'paused' and ${isUnpaidFor})`;
  const from = reason === null ? isSending : sql`(${isSending} or status = 'sent')`;
  return transition(tx, workspaceId, id, change, from);
}

/** Why the service paused a campaign. */
export type PauseReason =
  | "plan_limit_reached"
  | "insufficient_balance"
  | "missed_schedule"
  | "bounce_rate"
  | "complaint_rate"
  | "delivery_failures"
  | "sender_not_verified"
  | "audience_missing"
  | "audience_too_costly"
  | "audience_failed"
  | "content_invalid";

/**
 * Continues a paused campaign; auto-pause counts from here. A campaign that was paused before its first message and whose
 * time is in the future becomes `scheduled` again.
 */
export function resumeCampaign(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  now: Date,
): Promise<boolean> {
  const change = sql`
    status = case when sent_at is null and scheduled_at > ${now} then 'scheduled' else 'sending' end,
    sent_at = case when sent_at is null and scheduled_at > ${now} then null else coalesce(sent_at, ${now}) end,
    paused_at = null, pause_reason = null, updated_at = ${now}, expansion_failures = 0, expand_after = null,
    waits_for_cap = false,
    (brake_sent, brake_bounced, brake_complained, brake_failures) = (
      select coalesce(max(sent), 0), coalesce(max(hard_bounced), 0), coalesce(max(complained), 0),
        coalesce(max(failures_in_a_row), 0)
      from campaign_counters n where n.workspace_id = ${workspaceId} and n.campaign_id = ${id})`;
  return transition(tx, workspaceId, id, change, sql`status = 'paused'`);
}

/** Cancels a campaign. The delivery workers end its queued messages as cancelled. */
export function cancelCampaign(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  now: Date,
): Promise<boolean> {
  const change = sql`status = 'cancelled', completed_at = ${now}, updated_at = ${now}`;
  return transition(tx, workspaceId, id, change, sql`status in ('scheduled', 'sending', 'paused')`);
}

export function unscheduleCampaign(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  now: Date,
): Promise<boolean> {
  const change = sql`status = 'draft', updated_at = ${now}`;
  return transition(tx, workspaceId, id, change, sql`status = 'scheduled'`);
}

/** A campaign whose status the recurring task has changed. */
export interface MovedCampaign {
  readonly workspace_id: WorkspaceId;
  readonly id: string;
  readonly name: string;
  readonly status: Campaign["status"];
  readonly pause_reason: PauseReason | null;
}

const movedColumns = sql`c.workspace_id, c.id, c.name, c.status, c.pause_reason`;

/** Starts the scheduled campaigns that are due; those late by more than `lateAfterMs` are paused. */
export async function startDueCampaigns(
  db: Queryable,
  now: Date,
  lateAfterMs: number,
): Promise<MovedCampaign[]> {
  const late = new Date(now.getTime() - lateAfterMs);
  return db.rows(sql`
    update campaigns c
    set status = case when scheduled_at < ${late} then 'paused' else 'sending' end,
      sent_at = case when scheduled_at < ${late} then null else ${now}::timestamptz end,
      paused_at = case when scheduled_at < ${late} then ${now}::timestamptz end,
      pause_reason = case when scheduled_at < ${late} then 'missed_schedule' end, updated_at = ${now}
    where status = 'scheduled' and scheduled_at <= ${now}
      and workspace_id <> all (array(select id from workspaces where is_suspended))
    returning ${movedColumns}`);
}

/**
 * Marks campaigns as sent when no message waits for its first attempt. Deferred messages are still retried. A paused
 * campaign keeps its deferred messages, and becomes sent when none is left.
 */
export async function completeCampaigns(db: Queryable, now: Date): Promise<MovedCampaign[]> {
  return db.rows(sql`
    update campaigns c
    set status = 'sent', completed_at = ${now}, paused_at = null, pause_reason = null, updated_at = ${now}
    from campaign_counters n
    where c.status in ('sending', 'paused') and c.expanded_at is not null
      and n.workspace_id = c.workspace_id and n.campaign_id = c.id and n.queued = 0
      and (c.status = 'sending' or n.deferred = 0)
    returning ${movedColumns}`);
}
