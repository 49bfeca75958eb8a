/** What shows a picture, so that it cannot be deleted meanwhile. */
import sql, { type Sql } from "sql-template-tag";
import { listFirstUsers } from "#audience/uses/first-users-store.ts";
import { refuseWhileUsed, type UseInRefusal } from "#audience/uses/refuse-while-used.ts";
import type { ObjectUse } from "#audience/uses/used-by.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { mediaIn } from "./media-link.ts";
import { lockMedia } from "./store.ts";

/** A kind of users of pictures, by the id of the picture. */
export interface MediaUse extends ObjectUse<string>, UseInRefusal {}

/**
 * Users that note the pictures they show in a column.
 * @param users selects used_id, id, name, mailing_list_id and prevents_deletion of the users of pictures (an array of uuids)
 */
export function mediaUseOf(
  described: Omit<MediaUse, "list">,
  users: (workspaceId: WorkspaceId, mediaIds: Sql) => Sql,
): MediaUse {
  return {
    ...described,
    list: (db, workspaceId, ids) => listFirstUsers(db, users(workspaceId, sql`${[...ids]}::uuid[]`)),
  };
}

/** @throws ApiError CONFLICT while something shows the picture; the message has names */
export async function requireMediaUnused(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  uses: readonly MediaUse[],
): Promise<void> {
  for (const use of uses) {
    const users = await use.list(tx, workspaceId, [id]);
    refuseWhileUsed(
      users.map(({ name }) => name),
      "picture",
      use,
      users[0]?.preventing,
    );
  }
}

/**
 * The pictures that the HTML shows, for the column `media_ids` of its row. They are locked, so that none is deleted before the
 * row is there.
 */
export async function lockMediaIn(
  tx: Queryable,
  workspaceId: WorkspaceId,
  html: string | null,
): Promise<string[]> {
  return lockMedia(tx, workspaceId, mediaIn(html, workspaceId));
}
