/** Which step of its autoresponder a message is. */
import sql from "sql-template-tag";
import { uuidArray } from "#platform/database/binary-arrays.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

interface Mail {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
}

/** Finds the steps of mail of autoresponders: the id of a message's step, or null if its row was removed. */
export async function findStepsOfMail(
  db: Queryable,
  mail: readonly Mail[],
): Promise<(one: Mail) => string | null> {
  const rows = await db.rows<{ message_id: string; step_id: string }>(
    sql`
    select a.message_id, a.step_id
    from unnest(${uuidArray(mail.map((one) => one.workspaceId))}::uuid[],
      ${uuidArray(mail.map((one) => one.messageId))}::uuid[]) as m (workspace_id, message_id)
    join autoresponder_mails a on a.workspace_id = m.workspace_id and a.message_id = m.message_id`,
    "steps of mail",
  );
  const steps = new Map(rows.map((row) => [row.message_id, row.step_id]));
  return ({ messageId }) => steps.get(messageId) ?? null;
}
