/** What events tell of messages, read from the log. */
import sql from "sql-template-tag";
import type { Queryable } from "../platform/database/pool.ts";
import type { WorkspaceId } from "../platform/ids.ts";

/** One message, after what happened to it. */
export interface MessageFacts {
  readonly message_id: string;
  readonly to: string;
  readonly from_email: string;
  readonly source: string;
  readonly origin_id: string | null;
  readonly origin_name: string;
  readonly attempts: number;
  readonly next_attempt_at: Date | null;
  /** Of the newest event of the type asked for. */
  readonly detail: string | null;
  readonly smtp_code: number | null;
  readonly enhanced_code: string | null;
}

/** By message id. */
export async function findMessageFacts(
  tx: Queryable,
  asked: readonly {
    readonly workspaceId: WorkspaceId;
    readonly messageId: string;
    readonly happened: string;
  }[],
): Promise<ReadonlyMap<string, MessageFacts>> {
  const facts = await tx.rows<MessageFacts>(sql`
    select distinct on (m.id) m.id as message_id, m.localpart || '@' || m.domain as to, m.from_email, m.source,
      m.origin_id, m.origin_name, m.attempts, m.next_attempt_at, e.detail, e.code as smtp_code, e.enhanced_code
    from unnest(${asked.map(({ workspaceId }) => workspaceId)}::uuid[],
      ${asked.map(({ messageId }) => messageId)}::uuid[], ${asked.map(({ happened }) => happened)}::text[])
      as a (workspace_id, message_id, type)
    join messages m on m.workspace_id = a.workspace_id and m.id = a.message_id
    left join lateral (
      select detail, code, enhanced_code from message_events
      where workspace_id = a.workspace_id and message_id = a.message_id and type = a.type
      order by id desc limit 1) e on true`);
  return new Map(facts.map((one) => [one.message_id, one]));
}
