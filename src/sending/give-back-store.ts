/** The SQL of what is given back. */
import sql from "sql-template-tag";
import type { MovedMessage } from "../messages/outcome.ts";
import type { Queryable } from "../platform/database/pool.ts";
import { noteUseSql } from "../workspace/billing/meter-store.ts";

export async function noteGivenBack(
  tx: Queryable,
  messages: readonly Pick<MovedMessage, "workspaceId">[],
  now: Date,
): Promise<void> {
  const unused = sql`(
    select workspace_id, -count(*)::int as quantity
    from unnest(${messages.map(({ workspaceId }) => workspaceId)}::uuid[]) as m (workspace_id)
    group by workspace_id) unused`;
  await tx.run(noteUseSql("email", unused, now));
}
