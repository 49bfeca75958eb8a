/** The table of previews, which keeps the pages of the last renderings of each workspace for some minutes. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";

/** Previews of one workspace; each is 15 MB at most, and usually 0.2 MB. A further one replaces the oldest. */
const MOST_PREVIEWS = 20;

/** The two pages of a mail, as HTML. */
export interface PreviewPages {
  readonly light: string;
  readonly dark: string;
}

/** Returns the id of the preview. */
export async function insertPreview(
  db: Queryable,
  workspaceId: WorkspaceId,
  { light, dark }: PreviewPages,
  expiresAt: Date,
): Promise<string> {
  const id = newId();
  await db.run(sql`
    with removed as (
      delete from content_previews where workspace_id = ${workspaceId} and id in (
        select id from content_previews where workspace_id = ${workspaceId} order by id desc
        offset ${MOST_PREVIEWS - 1}))
    insert into content_previews (workspace_id, id, light, dark, expires_at)
    values (${workspaceId}, ${id}, ${light}, ${dark}, ${expiresAt})`);
  return id;
}

export async function findPreview(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  theme: keyof PreviewPages,
  now: Date,
): Promise<string | undefined> {
  const row = await db.row<{ readonly page: string }>(sql`
    select ${theme === "dark" ? sql`dark` : sql`light`} as page from content_previews
    where workspace_id = ${workspaceId} and id = ${id} and expires_at > ${now}`);
  return row?.page;
}

export async function removeEndedPreviews(db: Queryable, now: Date): Promise<void> {
  await db.run(sql`delete from content_previews where expires_at <= ${now}`);
}
