/** SQL that stores mail to inbound routes. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { limits } from "#platform/limits/limits.ts";

export interface NewReceivedEmail {
  readonly id: string;
  readonly routeId: string;
  readonly keep: boolean;
  readonly webhook: boolean;
  readonly rcptTo: string;
}

/** What the mails of one transaction have in common. */
export interface ReceivedEnvelope {
  readonly workspaceId: WorkspaceId;
  /** "" for the null sender. */
  readonly mailFrom: string;
  readonly remoteIp: string;
  readonly helo: string;
  readonly network: string;
  readonly raw: Buffer;
  readonly spam: { readonly score: number; readonly isSpam: boolean } | null;
  readonly now: Date;
}

/** A mail of this size takes two turns of its workspace, one of twice the size three. */
const TURN_BYTES = 256 * 1024;

export type WaitingLimit =
  | "waitingReceivedMails"
  | "waitingReceivedMailsPerWorkspace"
  | "waitingReceivedBytesPerWorkspace";

/**
 * Stores a mail once for each of its recipients: all of them, or none when too many wait. Its turn comes after the turns of
 * its own workspace, and not before the current turn: workspaces alternate, and one that gets a lot delays only itself
 * (start-time fair queueing, as for returned mail).
 * @returns the limit that is reached; null when the mails were stored
 */
export async function insertReceivedEmails(
  tx: Queryable,
  { workspaceId, mailFrom, remoteIp, helo, network, raw, spam, now }: ReceivedEnvelope,
  mails: readonly NewReceivedEmail[],
): Promise<WaitingLimit | null> {
  const column = <Value>(read: (mail: NewReceivedEmail) => Value) => mails.map(read);
  const row = await tx.row<{ refusal: WaitingLimit | null }>(sql`
    with waiting as (
      select count(*) as mails, count(*) filter (where workspace_id = ${workspaceId}) as own,
        coalesce(sum(bytes) filter (where workspace_id = ${workspaceId}), 0) as own_bytes,
        coalesce(min(turn) filter (where due_at <= ${now}), 0) as present_turn,
        coalesce(max(turn + 1 + bytes / ${TURN_BYTES}::integer) filter (where workspace_id = ${workspaceId}), 0)
          as next_turn
      from received_emails where status = 'received'),
    refusal as (
      select case
        when mails >= ${limits.waitingReceivedMails.most} then 'waitingReceivedMails'
        when own >= ${limits.waitingReceivedMailsPerWorkspace.most}
          then 'waitingReceivedMailsPerWorkspace'
        when own_bytes >= ${limits.waitingReceivedBytesPerWorkspace.most}
          then 'waitingReceivedBytesPerWorkspace' end as refusal
      from waiting),
    stored as (
      insert into received_emails (workspace_id, id, route_id, keep, webhook, mail_from, rcpt_to, remote_ip, helo, network,
        raw, bytes, received_at, status, due_at, turn, spam_score, is_spam)
      select ${workspaceId}, m.id, m.route_id, m.keep, m.webhook, ${mailFrom}, m.rcpt_to, ${remoteIp}, ${helo},
        ${network}, ${raw}::bytea, ${raw.length}, ${now}, 'received', ${now},
        greatest(w.present_turn, w.next_turn) + (m.position - 1) * (1 + ${raw.length}::integer / ${TURN_BYTES}::integer), ${spam?.score ?? null}::float8,
        ${spam?.isSpam ?? false}
      from unnest(${column(({ id }) => id)}::uuid[], ${column(({ routeId }) => routeId)}::uuid[],
        ${column(({ keep }) => keep)}::boolean[], ${column(({ webhook }) => webhook)}::boolean[],
        ${column(({ rcptTo }) => rcptTo)}::text[])
        with ordinality as m (id, route_id, keep, webhook, rcpt_to, position)
      cross join waiting w cross join refusal r
      where r.refusal is null)
    select refusal from refusal`);
  return row?.refusal ?? null;
}

/** Adds octets to the storage of the workspace. Locks its row until the transaction ends. */
export async function addReceivedStorage(
  tx: Queryable,
  workspaceId: WorkspaceId,
  bytes: number,
): Promise<void> {
  await tx.run(sql`
    insert into received_storage as s (workspace_id, bytes) values (${workspaceId}, ${bytes})
    on conflict (workspace_id) do update set bytes = s.bytes + excluded.bytes`);
}

/** Stores the digests that are new. @returns these */
export async function insertDigests(
  tx: Queryable,
  workspaceId: WorkspaceId,
  digests: readonly Buffer[],
  now: Date,
): Promise<ReadonlySet<string>> {
  const rows = await tx.rows<{ digest: Buffer }>(sql`
    insert into received_digests (workspace_id, digest, received_at)
    select ${workspaceId}, decode(hex, 'hex'), ${now}
    from unnest(${digests.map((digest) => digest.toString("hex"))}::text[]) as d (hex)
    order by hex
    on conflict (workspace_id, digest) do nothing
    returning digest`);
  return new Set(rows.map(({ digest }) => digest.toString("hex")));
}

/** Removes up to `most` digests of mails that arrived before this time. @returns how many */
export function removeOldDigests(db: Queryable, before: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from received_digests where ctid = any(array(
      select ctid from received_digests where received_at < ${before} order by received_at limit ${most}))`);
}
