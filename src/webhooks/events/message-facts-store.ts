/** SQL that reads the fields of messages for the events of their opens and clicks. */
import sql from "sql-template-tag";
import type { EmailDetails } from "#messages/message/email-details.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** The fields of a message that its events show. */
export interface MessageFacts {
  readonly message_id: string;
  readonly to: string;
  readonly from_email: string;
  readonly source: string;
  readonly origin_id: string | null;
  readonly origin_name: string;
  readonly email_details: EmailDetails | null;
}

/** By message id. For opens and clicks only: outcomes carry these fields themselves. */
export async function findMessageFacts(
  tx: Queryable,
  asked: readonly { readonly workspaceId: WorkspaceId; readonly messageId: string }[],
): Promise<ReadonlyMap<string, MessageFacts>> {
  const facts = await tx.rows<MessageFacts>(sql`
    select distinct on (m.id) m.id as message_id, m.localpart || '@' || m.domain as to, m.from_email, m.source,
      m.origin_id, m.origin_name, m.email_details
    from unnest(${asked.map(({ workspaceId }) => workspaceId)}::uuid[],
      ${asked.map(({ messageId }) => messageId)}::uuid[]) as a (workspace_id, message_id)
    join messages m on m.workspace_id = a.workspace_id and m.id = a.message_id`);
  return new Map(facts.map((one) => [one.message_id, one]));
}
