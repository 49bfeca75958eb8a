/** The progress of expansions: the cursor of each campaign, its lock, its failures, and what the first step found. */
import sql from "sql-template-tag";
import type { TemplateLink } from "#mail/merge-tags/tracked-links.ts";
import { lockKey } from "#platform/database/advisory-lock-key.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { AudienceOf } from "#sending/campaigns/audience-segments.ts";
import type { Campaign } from "#sending/campaigns/campaign.ts";

/** How many people got no message, by reason. */
export interface Excluded {
  readonly suppressed: number;
  readonly unsubscribed: number;
  readonly invalid: number;
}

/** What the first step found: names of the audience, the list's sender, what is tracked, and the tracked links. */
export interface ExpansionStart {
  readonly listId: string | null;
  readonly listName: string | null;
  readonly segmentName: string | null;
  /** The list's from_name and reply_to_email, for a campaign without its own. */
  readonly fromName: string | null;
  readonly replyTo: string | null;
  readonly tracksOpens: boolean;
  readonly tracksClicks: boolean;
  readonly links: readonly TemplateLink[];
  /** The list's members who were not active when sending began. */
  readonly excluded: Excluded;
}

/** A paused campaign's audience, and whether its expansion is complete. */
export function findPausedAudience(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<
  (AudienceOf & { readonly audience_list_id: string | null; readonly is_expanded: boolean }) | undefined
> {
  return db.row(sql`
    select recipient_type, mailing_list_id, segment_id, segment_conditions, audience_list_id,
      expanded_at is not null as is_expanded
    from campaigns where workspace_id = ${workspaceId} and id = ${id} and status = 'paused'`);
}

/** Stores what the first step found, before it moves the cursor. */
export async function beginExpansion(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  begin: ExpansionStart,
): Promise<void> {
  const { links, excluded } = begin;
  await tx.run(sql`
    with links as (
      insert into campaign_links (workspace_id, campaign_id, index, url, is_personal)
      select ${workspaceId}, ${id}, * from unnest(${links.map((_, index) => index)}::smallint[],
        ${links.map(({ url }) => url)}::text[], ${links.map(({ personal }) => personal)}::boolean[])
    ), counters as (
      insert into campaign_counters (workspace_id, campaign_id) values (${workspaceId}, ${id})
    )
    update campaigns
    set audience_list_id = ${begin.listId}::uuid, mailing_list_name = ${begin.listName},
      segment_name = ${begin.segmentName}, default_from_name = ${begin.fromName}, default_reply_to = ${begin.replyTo},
      tracks_opens = ${begin.tracksOpens}, tracks_clicks = ${begin.tracksClicks},
      excluded_unsubscribed = ${excluded.unsubscribed},
      excluded_suppressed = ${excluded.suppressed}, excluded_invalid = ${excluded.invalid}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

/**
 * Moves the cursor and the counter, at the end of the transaction that inserted the recipients. The campaign row is locked
 * only now, so that a call that pauses it does not wait for the step. Counters by domain (recipients-store.ts) are locked
 * before those of the campaign, by every writer.
 * @returns false when the campaign is no longer sending or the cursor is not at `from`: the step must be rolled back
 */
export async function advanceExpansion(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  step: Excluded & {
    readonly duplicate: number;
    readonly from: string | null;
    readonly to: string;
    readonly added: number;
    readonly isOver: boolean;
  },
  now: Date,
): Promise<boolean> {
  const moved = await tx.run(sql`
    with counted as (
      update campaign_counters set queued = queued + ${step.added}
      where workspace_id = ${workspaceId} and campaign_id = ${id}
    )
    update campaigns
    set expanded_to = ${step.to}, expanded_at = case when ${step.isOver} then ${now}::timestamptz end,
      expand_after = ${now}, waits_for_cap = false, expansion_failures = 0,
      total_recipients = total_recipients + ${step.added},
      excluded_suppressed = excluded_suppressed + ${step.suppressed},
      excluded_unsubscribed = excluded_unsubscribed + ${step.unsubscribed},
      excluded_invalid = excluded_invalid + ${step.invalid},
      excluded_duplicate = excluded_duplicate + ${step.duplicate}
    where workspace_id = ${workspaceId} and id = ${id} and status = 'sending'
      and expanded_to is not distinct from ${step.from}::uuid`);
  return moved > 0;
}

/** The sending campaign with an incomplete expansion whose next step has been due for the longest time. */
export function findUnexpanded(
  db: Queryable,
  now: Date,
  but: { readonly workspaces: readonly WorkspaceId[]; readonly campaigns: readonly string[] },
): Promise<{ readonly workspace_id: WorkspaceId; readonly id: string } | undefined> {
  return db.row(sql`
    select workspace_id, id from campaigns
    where status = 'sending' and expanded_at is null and (expand_after is null or expand_after <= ${now})
      and workspace_id <> all (${but.workspaces}::uuid[]) and id <> all (${but.campaigns}::uuid[])
      and workspace_id <> all (array(select id from workspaces where is_suspended))
    order by expand_after nulls first, sent_at, id limit 1`);
}

/** Workspaces with a campaign, sending or paused, whose expansion is not complete. */
export const expandingWorkspaces = sql`
  select workspace_id from campaigns where status in ('sending', 'paused') and expanded_at is null`;

/** Delays the next step: the workspace is at its hourly cap. */
export async function waitForHourlyCap(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  until: Date,
): Promise<void> {
  await tx.run(sql`
    update campaigns set expand_after = ${until}, waits_for_cap = true
    where workspace_id = ${workspaceId} and id = ${id} and status = 'sending'`);
}

/** Delays the next step, twice as long after each failure. @returns how many steps have failed in a row */
export async function recordExpansionFailure(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  { seconds, now }: { readonly seconds: number; readonly now: Date },
): Promise<number> {
  const row = await db.row<{ failures: number }>(sql`
    update campaigns
    set expansion_failures = expansion_failures + 1,
      expand_after = ${now}::timestamptz + make_interval(secs => ${seconds} * 2 ^ expansion_failures)
    where workspace_id = ${workspaceId} and id = ${id} and status = 'sending'
    returning expansion_failures as failures`);
  return row?.failures ?? 0;
}

/** The fields that an expansion needs. Only the first step reads the content, so large contents do not slow the others. */
export interface ExpandingCampaign
  extends Pick<
    Campaign,
    | "id"
    | "name"
    | "subject"
    | "from_email"
    | "message_type"
    | "phone_field_name"
    | "recipient_type"
    | "mailing_list_id"
    | "segment_id"
    | "segment_conditions"
    | "enable_open_tracking"
    | "enable_click_tracking"
  > {
  readonly timezone: string;
  readonly retry_hours: number;
  readonly expanded_to: string | null;
  readonly audience_list_id: string | null;
  /** Both contents are null except in the first step. */
  readonly html_content: string | null;
  readonly text_content: string | null;
  /** Octets of bodies and attachments, as stored. */
  readonly bytes: number;
}

/** Takes the advisory lock of the campaign's cursor until the transaction ends. False when another process has it. */
export async function lockExpansion(tx: Queryable, id: string): Promise<boolean> {
  const row = await tx.row<{ isOurs: boolean }>(sql`
    select pg_try_advisory_xact_lock(${lockKey(`expansion of ${id}`)}) as "isOurs"`);
  return row?.isOurs ?? false;
}

/**
 * The commit of this transaction does not wait for the disk. A crash of PostgreSQL undoes the messages together with the
 * cursor and all later steps; the lease of one of the messages is committed synchronously after them.
 */
export async function commitAsynchronously(tx: Queryable): Promise<void> {
  await tx.run(sql`select set_config('synchronous_commit', 'off', true)`);
}

/** Undefined when the expansion is complete or the campaign is not sending, or its workspace is suspended. */
export function findExpanding(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<ExpandingCampaign | undefined> {
  return tx.row(sql`
    select c.id, c.name, c.subject, c.from_email, c.message_type, c.phone_field_name, c.recipient_type, c.mailing_list_id, c.segment_id,
      c.segment_conditions, c.enable_open_tracking, c.enable_click_tracking, c.expanded_to, c.audience_list_id, w.timezone,
      w.retry_hours,
      case when c.expanded_to is null then c.html_content end as html_content,
      case when c.expanded_to is null then c.text_content end as text_content,
      coalesce(octet_length(c.html_content), 0) + coalesce(octet_length(c.text_content), 0)
        + coalesce(octet_length(c.attachments::text), 0) as bytes
    from campaigns c join workspaces w on w.id = c.workspace_id
    where c.workspace_id = ${workspaceId} and c.id = ${id} and c.status = 'sending' and c.expanded_at is null
      and not w.is_suspended`);
}

/** The id of the `size`-th subscriber of a workspace after an id; undefined when there are fewer. */
export async function findStretchEnd(
  db: Queryable,
  workspaceId: WorkspaceId,
  after: string,
  size: number,
): Promise<string | undefined> {
  const row = await db.row<{ id: string }>(sql`
    select id from subscribers where workspace_id = ${workspaceId} and id > ${after}
    order by id limit 1 offset ${size - 1}`);
  return row?.id;
}
