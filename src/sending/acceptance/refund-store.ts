/** The SQL of what is given back. */
import sql from "sql-template-tag";
import type { MovedMessage } from "#messages/message/outcome.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { addEntriesSql } from "#workspace/billing/meter-store.ts";

/**
 * Notes what was taken for those of the messages that nobody was asked to take. Of one that was put off the log says who
 * was; what says neither a host nor why there was none had words that could not be stored, and somebody spoke them.
 */
export async function noteGivenBack(
  tx: Queryable,
  messages: readonly Pick<MovedMessage, "workspaceId" | "messageId" | "from">[],
  now: Date,
): Promise<void> {
  const unused = sql`(
    select workspace_id, -count(*)::int as quantity
    from unnest(
      ${messages.map(({ workspaceId }) => workspaceId)}::uuid[], ${messages.map(({ messageId }) => messageId)}::uuid[],
      ${messages.map(({ from }) => from === "deferred")}::boolean[]) as m (workspace_id, message_id, was_put_off)
    where not was_put_off or not exists (
      select from message_events e
      where e.workspace_id = m.workspace_id and e.message_id = m.message_id and e.type = 'deferred'
        and (e.mx_host is not null or e.enhanced_code is null))
    group by workspace_id) unused`;
  await tx.run(addEntriesSql("email", unused, now));
}
