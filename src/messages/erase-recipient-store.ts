/** Erases what the message log knows about one recipient. States, times, codes and counters stay. */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { deleteLabelsSql } from "./labels-store.ts";
import { emailIdOf, lastIdOf } from "./message/email-id.ts";
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

/**
 * A page of the ids of the messages to an address, and of those in `others`, that wait in the queue or are being sent.
 */
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
 * (replies of servers, SMTP conversations, links clicked, the subject, tags and metadata of single messages). Mail to
 * several recipients does not show the erased ones any more, and its content is deleted with the last of them. The
 * messages must not be in the queue.
 */
export async function eraseRecipient(
  tx: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly string[],
): Promise<ErasedCounts> {
  const these = sql`= any (${[...ids]}::uuid[])`;
  // Before the addresses and the contents that name them are gone.
  const shared = await removeAddressees(tx, workspaceId, ids);
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
  await deleteUnused(tx, workspaceId, shared);
  return { messages, message_contents };
}

/** Contents that are stored once for all recipients of a mail, and the first and last ids of the mails' messages. */
interface SharedContents {
  readonly ids: readonly string[];
  readonly firsts: readonly string[];
  readonly lasts: readonly string[];
}

/**
 * Removes the recipients of these messages from To, Cc and Reply-To of mail to several recipients. Its content is found by
 * the messages of all its recipients, because a suppressed one has none of its own.
 */
async function removeAddressees(
  tx: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly string[],
): Promise<SharedContents> {
  const erased = await tx.rows<{ id: string; address: string }>(sql`
    select m.id, ${address} as address from messages m
    where m.workspace_id = ${workspaceId} and m.id = any (${[...ids]}::uuid[]) and m.email_details is not null`);
  const firsts = erased.map(({ id }) => emailIdOf(id));
  const lasts = firsts.map(lastIdOf);
  if (erased.length === 0) return { ids: [], firsts, lasts };
  const left = (field: "to" | "cc" | "reply_to") => sql`coalesce((
    select jsonb_agg(mailbox order by place)
    from jsonb_array_elements(s.particulars -> 'addressees' -> ${field}) with ordinality as l (mailbox, place)
    where lower(mailbox ->> 'address') <> all (e.addresses)), '[]')`;
  const changed = await tx.rows<{ id: string }>(sql`
    update submissions s set particulars = jsonb_set(s.particulars, '{addressees}', s.particulars -> 'addressees'
      || jsonb_build_object('to', ${left("to")}, 'cc', ${left("cc")}, 'reply_to', ${left("reply_to")}))
    from (
      select c.submission_id, array_agg(distinct address) as addresses
      from unnest(${firsts}::uuid[], ${lasts}::uuid[], ${erased.map(({ address: of }) => of)}::text[])
        as mail (first, last, address)
      join message_contents c on c.workspace_id = ${workspaceId} and c.message_id between mail.first and mail.last
      where c.submission_id is not null
      group by c.submission_id) e
    where s.workspace_id = ${workspaceId} and s.id = e.submission_id and s.particulars ? 'addressees'
    returning s.id`);
  return { ids: changed.map(({ id }) => id), firsts, lasts };
}

/** Deletes the contents that no message has any more. */
async function deleteUnused(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { ids, firsts, lasts }: SharedContents,
): Promise<void> {
  if (ids.length === 0) return;
  await tx.run(sql`
    delete from submissions s
    where s.workspace_id = ${workspaceId} and s.id = any (${[...ids]}::uuid[]) and not exists (
      select from unnest(${[...firsts]}::uuid[], ${[...lasts]}::uuid[]) as mail (first, last)
      join message_contents c on c.workspace_id = ${workspaceId} and c.message_id between mail.first and mail.last
      where c.submission_id = s.id)`);
}
