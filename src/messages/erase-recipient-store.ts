/** Erases what the message log knows about one recipient. States, times, codes and counters stay. */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { deleteLabelsSql } from "./labels-store.ts";
import { messageSources } from "./message/status.ts";

/** Stands where personal data was. It is no valid local part, so that no address can equal it. */
export const ERASED = "[erased]";

const address = sql`lower(m.localpart || '@' || m.domain)`;

/**
 * Ids of messages to an address, and of those in `others`, that are not erased yet and are not in the queue, smallest
 * first. Messages that never had an outcome are found by `others` or listQueuedTo only.
 * @param others a select of message_id: mail that is known to be for this person, such as SMS
 */
export async function listToErase(
  db: Queryable,
  workspaceId: WorkspaceId,
  { email, others }: { readonly email: string; readonly others: Sql },
  limit: number,
): Promise<string[]> {
  const open = sql`
    m.workspace_id = ${workspaceId} and m.localpart <> ${ERASED} and not exists (
      select from delivery_queue q where q.workspace_id = m.workspace_id and q.message_id = m.id)`;
  const rows = await db.rows<{ id: string }>(sql`
    (select m.id from messages m
      where m.status <> 'queued' and hashtext(${address}) = hashtext(lower(${email}))
        and ${address} = lower(${email}) and ${open} limit ${limit})
    union
    (select m.id from (${others}) o join messages m on m.id = o.message_id where ${open} limit ${limit})
    order by id limit ${limit}`);
  return rows.map(({ id }) => id);
}

/** A page of the ids of the messages to an address, and of those in `others`, that wait in the queue or are being sent. */
export async function listQueuedTo(
  db: Queryable,
  workspaceId: WorkspaceId,
  { email, others }: { readonly email: string; readonly others: Sql },
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    select q.message_id as id from delivery_queue q
    where q.workspace_id = ${workspaceId} and q.message_id in (
      select m.id from messages m
      where m.workspace_id = ${workspaceId} and m.source = any (${[...messageSources]}::text[])
        and m.status in ('queued', 'deferred') and ${address} = lower(${email})
      union all
      ${others}) and q.message_id > ${after}
    order by id limit ${limit}`);
  return rows.map(({ id }) => id);
}

export interface ErasedCounts {
  readonly messages: number;
  readonly message_contents: number;
}

/**
 * Erases the recipient of these messages: the local part, the name, the content, and all texts that may hold the address
 * (replies of servers, SMTP conversations, links clicked, the subject, tags and metadata of single messages). The messages must not be in the queue.
 */
export async function eraseRecipient(
  tx: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly string[],
): Promise<ErasedCounts> {
  const these = sql`= any (${[...ids]}::uuid[])`;
  await tx.run(deleteLabelsSql(workspaceId, ids));
  const messages = await tx.run(sql`
    update messages set localpart = ${ERASED}, error_message = null, shown = null,
      email_details = email_details - 'tags' - 'metadata',
      subject = case when source in ('campaign', 'autoresponder') then subject else ${ERASED} end
    where workspace_id = ${workspaceId} and id ${these}`);
  const records = sql`
    (select id from message_events
      where workspace_id = ${workspaceId} and message_id ${these} and type in ('bounced', 'complained'))`;
  await tx.run(sql`
    update bounces set localpart = ${ERASED}, error_message = ${ERASED}
    where workspace_id = ${workspaceId} and id in ${records}`);
  await tx.run(sql`
    update complaints set localpart = ${ERASED} where workspace_id = ${workspaceId} and id in ${records}`);
  await tx.run(sql`
    update message_events set detail = null, user_agent = null, opening_id = null, conversation = null
    where workspace_id = ${workspaceId} and message_id ${these}
      and (detail is not null or user_agent is not null or conversation is not null)`);
  const message_contents = await tx.run(sql`
    delete from message_contents where workspace_id = ${workspaceId} and message_id ${these}`);
  return { messages, message_contents };
}
