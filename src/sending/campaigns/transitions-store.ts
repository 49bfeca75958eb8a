/** Every way in which a campaign changes its state: each is one statement, which names the states it may start from. */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Campaign } from "./campaign.ts";

/** Where a draft goes when it is sent. */
export interface Dispatch {
  readonly id: string;
  /** As it was checked. */
  readonly revision: number;
  /** In the future: it waits for it. */
  readonly scheduledAt: Date | null;
  readonly warnings: Campaign["warnings"];
  /** How many it goes to, as far as that is known by now. */
  readonly estimate: number;
}

/** Sends a draft, unless somebody was quicker or has changed it since it was checked; says whether it did. */
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
      estimated_recipients = ${estimate}, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id} and status = 'draft' and revision = ${revision}`);
  return sent > 0;
}

/** A transition of one campaign by its owner; says whether it was in the state for it. */
const transition = async (tx: Queryable, workspaceId: WorkspaceId, id: string, change: Sql, from: Sql) =>
  (await tx.run(sql`
    update campaigns set ${change} where workspace_id = ${workspaceId} and id = ${id} and ${from}`)) > 0;

/** Of a paused campaign: it makes no more recipients, and the mail of those that are paid for goes out. */
export const isUnpaidFor = sql`coalesce(pause_reason in ('plan_limit_reached', 'insufficient_balance'), false)`;

/**
 * @param reason null when a person wants it; the brake and others of ours name theirs, and stop what is deferred of a
 * campaign that is sent, too: that is held until somebody resumes it, and is over where it was deleted and nobody can
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
  const goesOn = sql`(status = 'sending' or status = 'paused' and ${isUnpaidFor})`;
  const from = reason === null ? goesOn : sql`(${goesOn} or status = 'sent')`;
  return transition(tx, workspaceId, id, change, from);
}

/**
 * Why the service paused a campaign by itself. The first two are for whoever counts what a plan allows
 * (decisions, section 8 row 13).
 */
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
 * Goes on where it stopped; the brake judges by what comes from here on. One that was held before it had begun and whose
 * time is still ahead waits for it.
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

/** What is not under way already ends as cancelled; the delivery workers see to it. */
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

/** A campaign that moved by itself. */
export interface MovedCampaign {
  readonly workspace_id: WorkspaceId;
  readonly id: string;
  readonly name: string;
  readonly status: Campaign["status"];
  readonly pause_reason: PauseReason | null;
}

const movedColumns = sql`c.workspace_id, c.id, c.name, c.status, c.pause_reason`;

/** Those whose time has come begin; those that missed it by more than `lateAfterMs` are held. */
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
 * Nobody waits for a first attempt any more: they are sent. What is deferred goes on; a pause holds it, and ends by
 * itself where nothing is left to hold.
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
