/** The SQL of share links. */
import sql, { type Sql } from "sql-template-tag";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceRowLimit } from "#platform/database/row-limit-store.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { ShareLinkKind } from "./share-link.ts";

export const shareLinkRoom: WorkspaceRowLimit = {
  table: sql`share_links`,
  what: "share links",
  most: 500,
};

export interface ShareLinkRow {
  readonly id: string;
  readonly kind: ShareLinkKind;
  readonly resource_id: string;
  readonly name: string;
  readonly has_password: boolean;
  readonly created_by: string;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly view_count: number;
  readonly last_viewed_at: Date | null;
}

const columns: Sql = sql`
  l.id, l.kind, l.resource_id, l.name, l.password_hash is not null as has_password, l.created_by, l.created_at,
  l.expires_at, l.view_count, l.last_viewed_at`;

/** A link ends at its time, and with what it shows. A campaign with messages stays stored when it is deleted. */
const hasNotEnded = (now: Date): Sql => sql`(l.expires_at > ${now} and case l.kind
  when 'campaign_report' then exists (
    select from campaigns c where c.workspace_id = l.workspace_id and c.id = l.resource_id and c.deleted_at is null)
  else exists (select from sending_domains d where d.workspace_id = l.workspace_id and d.id = l.resource_id)
  end)`;

/** The links that have not ended, newest first. */
export function listShareLinks(
  db: Queryable,
  workspaceId: WorkspaceId,
  now: Date,
  { limit, offset }: Page,
): Promise<ShareLinkRow[]> {
  return db.rows(sql`
    select ${columns} from share_links l where l.workspace_id = ${workspaceId} and ${hasNotEnded(now)}
    order by l.id desc limit ${limit} offset ${offset}`);
}

export async function countShareLinks(db: Queryable, workspaceId: WorkspaceId, now: Date): Promise<number> {
  const counted = await db.row<{ total: number }>(sql`
    select count(*)::int as total from share_links l where l.workspace_id = ${workspaceId} and ${hasNotEnded(now)}`);
  return counted?.total ?? 0;
}

/** @param tokenHash SHA-256 of the token */
export async function insertShareLink(
  tx: Queryable,
  workspaceId: WorkspaceId,
  link: ShareLinkRow,
  { tokenHash, passwordHash }: { readonly tokenHash: Buffer; readonly passwordHash: string | null },
): Promise<void> {
  await tx.run(sql`
    insert into share_links
      (workspace_id, id, token_hash, kind, resource_id, name, password_hash, created_by, created_at, expires_at)
    values (${workspaceId}, ${link.id}, ${tokenHash}, ${link.kind}, ${link.resource_id}, ${link.name},
      ${passwordHash}, ${link.created_by}, ${link.created_at}, ${link.expires_at})`);
}

export async function removeEndedLinks(tx: Queryable, workspaceId: WorkspaceId, now: Date): Promise<void> {
  await tx.run(
    sql`delete from share_links l where l.workspace_id = ${workspaceId} and not ${hasNotEnded(now)}`,
  );
}

/** @returns the name of what it showed; undefined when there is no such link, or it has ended */
export async function removeShareLink(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  now: Date,
): Promise<string | undefined> {
  const row = await tx.row<{ name: string }>(sql`
    delete from share_links l where l.workspace_id = ${workspaceId} and l.id = ${id} and ${hasNotEnded(now)}
    returning l.name`);
  return row?.name;
}

/** A link that is opened. */
export interface OpenedLink {
  readonly id: string;
  readonly kind: ShareLinkKind;
  readonly resource_id: string;
  readonly password_hash: string | null;
}

/** Undefined for a link that has ended, was revoked or never was. */
export function findOpenLink(
  db: Queryable,
  workspaceId: WorkspaceId,
  tokenHash: Buffer,
  now: Date,
): Promise<OpenedLink | undefined> {
  return db.row(sql`
    select l.id, l.kind, l.resource_id, l.password_hash
    from share_links l join workspaces w on w.id = l.workspace_id
    where l.workspace_id = ${workspaceId} and l.token_hash = ${tokenHash} and ${hasNotEnded(now)}
      and not w.is_suspended`);
}

export async function countView(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  now: Date,
): Promise<void> {
  await db.run(sql`
    update share_links set view_count = view_count + 1, last_viewed_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

/** What a campaign that was sent tracks. Both are false before it is sent. */
export function findTracking(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
): Promise<{ readonly opens: boolean; readonly clicks: boolean } | undefined> {
  return db.row(sql`
    select coalesce(tracks_opens, false) as opens, coalesce(tracks_clicks, false) as clicks from campaigns
    where workspace_id = ${workspaceId} and id = ${campaignId}`);
}
