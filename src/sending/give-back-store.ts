/** The SQL of what is given back. */
import sql from "sql-template-tag";
import type { MovedMessage } from "../messages/outcome.ts";
import type { Queryable } from "../platform/database/pool.ts";
import { noteUseSql } from "../workspace/billing/meter-store.ts";

/** Campaigns of SMS take nothing from the allowance for emails, and get nothing back. */
export async function noteGivenBack(
  tx: Queryable,
  messages: readonly Pick<MovedMessage, "workspaceId" | "originId">[],
  now: Date,
): Promise<void> {
  const unused = sql`(
    select workspace_id, -count(*)::int as quantity
    from unnest(${messages.map(({ workspaceId }) => workspaceId)}::uuid[],
      ${messages.map(({ originId }) => originId)}::uuid[]) as m (workspace_id, origin_id)
    where not exists (
      select from campaigns c
      where c.workspace_id = m.workspace_id and c.id = m.origin_id and c.message_type = 'sms')
    group by workspace_id) unused`;
  await tx.run(noteUseSql("email", unused, now));
}
