/** Finds the message of a workspace that a received mail answers. */
import sql from "sql-template-tag";
import { emailIdOf, lastIdOf } from "#messages/message/email-id.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { isUuid, type WorkspaceId } from "#platform/ids.ts";

/** Message-IDs that are looked up: a long thread names one for each of its mails. */
const MOST_LOOKED_UP = 10;

/**
 * The message of the nearest Message-ID that is one of ours: `<message id>@<domain of From>`. The recipients of one mail of
 * POST /emails share its Message-ID, so the one who answers is found by address. Only the recipients of a message know its id.
 * @param answered Message-IDs without angle brackets, the nearest first
 * @param from the address of the answer, in lower case
 */
export async function findRepliedMessage(
  db: Queryable,
  workspaceId: WorkspaceId,
  answered: readonly string[],
  from: string | null,
): Promise<string | null> {
  const ids = answered
    .flatMap((id) => {
      const [local = ""] = id.toLowerCase().split("@", 1);
      return isUuid(local) ? [local] : [];
    })
    .slice(0, MOST_LOOKED_UP);
  if (ids.length === 0) return null;
  const found = await db.row<{ id: string }>(sql`
    select m.id from unnest(${ids}::uuid[], ${ids.map(emailIdOf)}::uuid[],
      ${ids.map((id) => lastIdOf(emailIdOf(id)))}::uuid[]) with ordinality as a (id, first, last, place)
    join messages m on m.workspace_id = ${workspaceId} and m.id between a.first and a.last
      and (m.id = a.id or m.email_details is not null)
    order by a.place, lower(m.localpart || '@' || m.domain) = ${from} desc nulls last, m.id = a.id desc, m.id
    limit 1`);
  return found?.id ?? null;
}

/** Whether the message is one of the workspace. */
export async function isOwnMessage(db: Queryable, workspaceId: WorkspaceId, id: string): Promise<boolean> {
  const found = await db.row(sql`
    select from messages where workspace_id = ${workspaceId} and id = ${id}`);
  return found !== undefined;
}
