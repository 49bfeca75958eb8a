/** SQL of the origins of messages: campaigns, autoresponders, API keys. */
import sql, { type Sql } from "sql-template-tag";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Paged } from "#reporting/counters/sum-with-deltas-store.ts";

export interface CampaignOrigin {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly is_deleted: boolean;
  readonly sent_at: Date | null;
}

export interface AutoresponderOrigin {
  readonly id: string;
  readonly name: string;
  readonly status: "active" | "inactive";
  readonly is_deleted: boolean;
}

/** Deleted origins with counted messages; only their name and figures are left. */
const deleted = (workspaceId: WorkspaceId, source: "campaign" | "autoresponder") => {
  const counted = sql`c where c.workspace_id = ${workspaceId} and c.source = ${source} and c.origin_id = o.id`;
  return sql`
    from origin_names o where o.workspace_id = ${workspaceId} and o.source = ${source}
      and (exists (select from report_origins ${counted}) or exists (select from report_notes ${counted}))`;
};

/** Newest first. */
export function listCampaignOrigins(
  db: Queryable,
  workspaceId: WorkspaceId,
  page: Page,
): Promise<Paged<CampaignOrigin>> {
  const origins = sql`
    select id, name, status, false as is_deleted, sent_at from campaigns
    where workspace_id = ${workspaceId} and deleted_at is null
    union all select o.id, o.name, o.status, true, o.sent_at ${deleted(workspaceId, "campaign")}`;
  return pageOf(db, origins, page);
}

/** Newest first. */
export function listAutoresponderOrigins(
  db: Queryable,
  workspaceId: WorkspaceId,
  page: Page,
): Promise<Paged<AutoresponderOrigin>> {
  const origins = sql`
    select id, name, status, false as is_deleted from autoresponders where workspace_id = ${workspaceId}
    union all select o.id, o.name, 'inactive', true ${deleted(workspaceId, "autoresponder")}`;
  return pageOf(db, origins, page);
}

async function pageOf<Row>(db: Queryable, origins: Sql, { limit, offset }: Page): Promise<Paged<Row>> {
  const [rows, counted] = await Promise.all([
    db.rows<Row>(sql`${origins} order by id desc limit ${limit} offset ${offset}`),
    db.row<{ total: number }>(sql`select count(*) as total from (${origins}) origins`),
  ]);
  return { rows, total: counted?.total ?? 0 };
}

/** Names of API keys by id, including permanently deleted ones, and of members who send by the API. */
export async function findKeyNames(
  db: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await db.rows<{ id: string; name: string }>(sql`
    select id, name from api_keys where workspace_id = ${workspaceId} and id = any (${[...ids]}::uuid[])
    union all
    select u.id, u.name from users u join workspace_members m on m.user_id = u.id
    where m.workspace_id = ${workspaceId} and u.id = any (${[...ids]}::uuid[])
    union all
    select id, name from origin_names
    where workspace_id = ${workspaceId} and source = 'api' and id = any (${[...ids]}::uuid[])`);
  return new Map(rows.map(({ id, name }) => [id, name]));
}
