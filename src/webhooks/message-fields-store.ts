/**
 * The fields of message events in SQL, over a row `m` of the message log, in the order of the catalogue, whose names they must
 * have. Outcomes carry these fields themselves (events/announce-message-events.ts).
 */
import sql, { join, raw, type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { MessageFields } from "./event-catalogue.ts";

export const messageFieldsSql: Readonly<Record<keyof MessageFields, Sql>> = {
  message_id: sql`m.id`,
  to: sql`m.localpart || '@' || m.domain`,
  from_email: sql`m.from_email`,
  source: sql`m.source`,
  origin_id: sql`m.origin_id`,
  origin_name: sql`m.origin_name`,
  // The id of the mail (messages/message/email-id.ts).
  email_id: sql`case when m.email_details is not null then left(m.id::text, 34) || '00' end`,
  tags: sql`coalesce(m.email_details -> 'tags', '[]')`,
  metadata: sql`coalesce(m.email_details -> 'metadata', '{}')`,
};

/** A JSON object. @param fields names that are constants of the code, with their values */
export function jsonObjectSql(fields: Readonly<Record<string, Sql>>): Sql {
  return sql`json_build_object(${join(Object.entries(fields).map(([name, value]) => sql`${raw(`'${name}'`)}, ${value}`))})`;
}

/** By message id. For opens and clicks only: outcomes carry these fields themselves. */
export async function findMessageFields(
  tx: Queryable,
  asked: readonly { readonly workspaceId: WorkspaceId; readonly messageId: string }[],
): Promise<ReadonlyMap<string, MessageFields>> {
  const found = await tx.rows<{ id: string; fields: MessageFields }>(sql`
    select distinct on (m.id) m.id, ${jsonObjectSql(messageFieldsSql)} as fields
    from unnest(${asked.map(({ workspaceId }) => workspaceId)}::uuid[],
      ${asked.map(({ messageId }) => messageId)}::uuid[]) as a (workspace_id, message_id)
    join messages m on m.workspace_id = a.workspace_id and m.id = a.message_id`);
  return new Map(found.map(({ id, fields }) => [id, fields]));
}
