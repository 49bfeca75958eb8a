/** How far campaigns have come with making recipients of their audience. */
import sql from "sql-template-tag";
import type { TemplateLink } from "../../mail/html-links-tracked.ts";
import type { Queryable } from "../../platform/database/pool.ts";
import type { WorkspaceId } from "../../platform/ids.ts";
import type { Campaign } from "./campaign.ts";
import { campaigns, content, summary } from "./store.ts";

/** What dispatch found, once: the audience as it is called, what is tracked, and its links. */
export interface Beginning {
  readonly listId: string | null;
  readonly listName: string | null;
  readonly segmentName: string | null;
  readonly tracksOpens: boolean;
  readonly tracksClicks: boolean;
  readonly links: readonly TemplateLink[];
  /** Who was not on the list's active side to begin with. */
  readonly excluded: { readonly unsubscribed: number; readonly suppressed: number };
}

/** Everything is ready for the first recipient. In the transaction that holds the campaign. */
export async function beginExpansion(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  begin: Beginning,
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
      segment_name = ${begin.segmentName}, tracks_opens = ${begin.tracksOpens}, tracks_clicks = ${begin.tracksClicks},
      total_recipients = 0, excluded_unsubscribed = ${excluded.unsubscribed},
      excluded_suppressed = ${excluded.suppressed}, expanded_to = '00000000-0000-0000-0000-000000000000'
    where workspace_id = ${workspaceId} and id = ${id}`);
}

/**
 * Moves the cursor of expansion and the counter. In the transaction that made the recipients, which holds the campaign.
 * Whoever moves counters does so by domain first (recipients-store.ts), then of the whole campaign.
 */
export async function advanceExpansion(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  step: {
    readonly to: string | null;
    readonly added: number;
    readonly suppressed: number;
    readonly unsubscribed: number;
    readonly invalid: number;
    readonly isOver: boolean;
  },
): Promise<void> {
  await tx.run(sql`
    with counted as (
      update campaign_counters set queued = queued + ${step.added}
      where workspace_id = ${workspaceId} and campaign_id = ${id}
    )
    update campaigns
    set expanded_to = coalesce(${step.to}::uuid, expanded_to), expanded_at = case when ${step.isOver} then now() end,
      total_recipients = total_recipients + ${step.added},
      excluded_suppressed = excluded_suppressed + ${step.suppressed},
      excluded_unsubscribed = excluded_unsubscribed + ${step.unsubscribed},
      excluded_invalid = excluded_invalid + ${step.invalid}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Sending, and not everybody of the audience has been dealt with. */
export function listUnexpanded(db: Queryable): Promise<{ workspace_id: WorkspaceId; id: string }[]> {
  return db.rows(sql`
    select workspace_id, id from campaigns where status = 'sending' and expanded_at is null
      and workspace_id <> all (array(select id from workspaces where is_suspended))
    order by sent_at, id`);
}

/** What an expansion needs to know. */
export interface Expanding extends Campaign {
  readonly timezone: string;
  readonly expanded_to: string | null;
  readonly audience_list_id: string | null;
}

/**
 * The campaign, which nobody else expands, pauses or cancels before this transaction ends; undefined when there is
 * nothing to expand, or somebody does.
 */
export function lockExpanding(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<Expanding | undefined> {
  return tx.row(sql`
    select ${summary}, ${content}, c.expanded_to, c.audience_list_id, w.timezone
    ${campaigns} join workspaces w on w.id = c.workspace_id
    where c.workspace_id = ${workspaceId} and c.id = ${id} and c.status = 'sending' and c.expanded_at is null
    for no key update of c skip locked`);
}
