/** SQL of the question what keeps mail from addresses: entries in force, and memberships. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { entryReason, suppressionReasons } from "./suppression-check.ts";
import type { ListState, SuppressionBlock } from "./suppression-finding.ts";

export interface BlockRow extends Omit<SuppressionBlock, "cause" | "removal_warning"> {
  readonly email: string;
  readonly source_message_id: string | null;
}

/**
 * Every entry of an active list for these addresses or their domains, at most `most` for each: global ones first, of
 * those the worst, then the newest. The entries are looked up by their values, as the suppression check does.
 */
export function listBlocks(
  db: Queryable,
  workspaceId: WorkspaceId,
  addresses: readonly { readonly email: string; readonly domain: string }[],
  most: number,
): Promise<BlockRow[]> {
  return db.rows(sql`
    select asked.email, block.*
    from unnest(${addresses.map(({ email }) => email)}::text[], ${addresses.map(({ domain }) => domain)}::text[])
      with ordinality as asked (email, domain, place)
    cross join lateral (
      select l.id as suppression_list_id, l.name as suppression_list_name, l.suppression_scope, l.mailing_list_id,
        l.segment_id, l.is_system, e.id as entry_id, e.entry_value, e.entry_type, ${entryReason(sql`e`)} as reason,
        e.created_at, e.created_by, e.source_message_id
      from suppression_entries e
      cross join lateral (
        select * from suppression_lists where workspace_id = e.workspace_id and id = e.suppression_list_id limit 1) l
      where e.workspace_id = ${workspaceId} and e.normalized_value in (asked.email, asked.domain) and l.is_active
      order by (l.suppression_scope = 'global') desc,
        array_position(${suppressionReasons}::text[], ${entryReason(sql`e`)}), e.created_at desc, e.id desc
      limit ${most}) block
    order by asked.place`);
}

export interface StateRow extends Omit<ListState, "may_be_mailed"> {
  readonly email: string;
  readonly subscriber_id: string;
}

/** The memberships of the people with these addresses, newest first, at most `most` for each. */
export function listStates(
  db: Queryable,
  workspaceId: WorkspaceId,
  emails: readonly string[],
  most: number,
): Promise<StateRow[]> {
  return db.rows(sql`
    select s.email, s.id as subscriber_id, state.*
    from unnest(${emails}::text[]) asked (email)
    cross join lateral (
      select id, email from subscribers where workspace_id = ${workspaceId} and email = asked.email offset 0) s
    cross join lateral (
      select m.mailing_list_id, l.name, m.status, m.subscribed_at, m.unsubscribed_at
      from memberships m join mailing_lists l on l.workspace_id = m.workspace_id and l.id = m.mailing_list_id
      where m.workspace_id = ${workspaceId} and m.subscriber_id = s.id
      order by m.created_at desc, l.id limit ${most}) state`);
}
