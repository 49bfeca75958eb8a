/** The table of inbound mail. Rows have no workspace, because only parsing a mail shows which one it is about. */

import sql from "sql-template-tag";
import type { MailResult } from "#inbound/parsing/mail-result.ts";
import { byteaArray } from "#platform/database/binary-arrays.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { InboundAddress } from "./resolve-inbound-address.ts";

/**
 * Signed: return paths and unsubscribe addresses, which only recipients of a mail know. Open: addresses that anyone can write
 * to. The classes have separate limits and workers.
 */
export type MailClass = "signed" | "open";

export const mailClasses: readonly MailClass[] = ["signed", "open"];

export const mailClassOf = (kind: InboundAddress["kind"]): MailClass =>
  kind === "return_path" || kind === "unsubscribe" ? "signed" : "open";

export interface NewInboundMail {
  readonly id: string;
  readonly kind: InboundAddress["kind"];
  readonly mailFrom: string;
  readonly rcptTo: string;
  /** The octets that are parsed. */
  readonly raw: Buffer;
  /** Octets of the whole mail. */
  readonly bytes: number;
}

/** Limits of waiting mail: the number of mails, and their stored octets. */
export interface Amount {
  readonly waiting: number;
  readonly bytes: number;
}

export interface Backlog {
  /** Per class. */
  readonly signed: Amount;
  readonly open: Amount;
  /** Per class and network. */
  readonly network: Amount;
  /** Mails per signed address. */
  readonly address: number;
}

/** The limit that is reached. */
export type BacklogRefusal = "class" | "network" | "address";

/** A mail of this size takes two turns of its network, one of twice the size three. */
const TURN_BYTES = 256 * 1024;

/**
 * Stores a mail once for each of its recipients: all of them, or none when a limit is reached. A mail's turn comes after the
 * turns of its own network, and not before the current turn: networks alternate, and one that sends a lot delays only itself
 * (start-time fair queueing).
 * @returns the limit that is reached; null when the mails were stored
 */
export async function insertInboundMails(
  db: Queryable,
  { network, mails }: { readonly network: string; readonly mails: readonly NewInboundMail[] },
  most: Backlog,
  now: Date,
): Promise<BacklogRefusal | null> {
  const column = <Value>(read: (mail: NewInboundMail) => Value) => mails.map(read);
  const row = await db.row<{ refusal: BacklogRefusal | null }>(sql`
    with mails as (
      select * from unnest(${column((mail) => mail.id)}::uuid[], ${column((mail) => mail.kind)}::text[],
        ${column((mail) => mailClassOf(mail.kind))}::text[],
        ${column((mail) => mail.mailFrom)}::text[], ${column((mail) => mail.rcptTo)}::text[],
        ${byteaArray(mails.map(({ raw }) => raw))}::bytea[], ${column((mail) => mail.bytes)}::integer[])
        with ordinality as m (id, kind, class, mail_from, rcpt_to, raw, bytes, position)),
    waiting as (
      select c.class, count(w.id) as mails, coalesce(sum(w.stored_bytes), 0) as bytes,
        count(w.id) filter (where w.network = ${network}) as network_mails,
        coalesce(sum(w.stored_bytes) filter (where w.network = ${network}), 0) as network_bytes,
        coalesce(min(w.turn) filter (where w.due_at <= ${now}), 0) as present_turn,
        coalesce(max(w.turn + 1 + w.stored_bytes / ${TURN_BYTES}::integer) filter (where w.network = ${network}), 0)
          as next_turn
      from (select distinct class from mails) c
      left join inbound_mails w on w.status = 'received' and w.class = c.class
      group by c.class),
    refusals as (
      select case
        when class = 'signed' and (mails >= ${most.signed.waiting} or bytes >= ${most.signed.bytes}) then 'class'
        when class = 'open' and (mails >= ${most.open.waiting} or bytes >= ${most.open.bytes}) then 'class'
        when network_mails >= ${most.network.waiting} or network_bytes >= ${most.network.bytes} then 'network'
        end as refusal
      from waiting
      union all
      select 'address' from mails m where class = 'signed' and ${most.address} <= (
        select count(*) from inbound_mails w
        where w.status = 'received' and w.class = 'signed'
          and lower(split_part(w.rcpt_to, '@', 1)) = lower(split_part(m.rcpt_to, '@', 1)))),
    stored as (
      insert into inbound_mails (id, kind, class, mail_from, rcpt_to, network, raw, bytes, stored_bytes, turn,
        due_at, received_at)
      select m.id, m.kind, m.class, m.mail_from, m.rcpt_to, ${network}, m.raw, m.bytes, octet_length(m.raw),
        greatest(w.present_turn, w.next_turn) + m.position - 1, ${now}, ${now}
      from mails m join waiting w on w.class = m.class
      where not exists (select from refusals where refusal is not null))
    select min(refusal) as refusal from refusals`);
  return row?.refusal ?? null;
}

/** A leased mail. The lease number counts its attempts. */
export interface LeasedMail {
  readonly id: string;
  readonly lease_number: number;
}

/** Leases due mails of a class in the order of their turns, until the given time. */
export function leaseInboundMails(
  db: Queryable,
  {
    mailClass,
    now,
    until,
    most,
  }: { readonly mailClass: MailClass; readonly now: Date; readonly until: Date; readonly most: number },
): Promise<LeasedMail[]> {
  return db.rows(sql`
    with due as materialized (
      select id from inbound_mails where status = 'received' and class = ${mailClass} and due_at <= ${now}
      order by turn, id limit ${most} for update skip locked)
    update inbound_mails m set due_at = ${until}, lease_number = lease_number + 1
    from due where m.id = due.id
    returning m.id, m.lease_number`);
}

export interface InboundMail {
  readonly rcpt_to: string;
  readonly raw: Buffer;
}

export function findInboundMail(
  db: Queryable,
  { id, lease_number }: LeasedMail,
): Promise<InboundMail | undefined> {
  return db.row(sql`
    select rcpt_to, raw from inbound_mails
    where id = ${id} and lease_number = ${lease_number} and status = 'received'`);
}

/** Locks the mail until the transaction ends; false when there is a newer lease. */
export async function lockInboundMail(tx: Queryable, { id, lease_number }: LeasedMail): Promise<boolean> {
  const held = await tx.row(sql`
    select from inbound_mails
    where id = ${id} and lease_number = ${lease_number} and status = 'received' for update`);
  return held !== undefined;
}

/** Octets kept after processing: the header, or more of a mail that the operator may read. */
const KEPT_BYTES = { processed: 16 * 1024, quarantined: 256 * 1024, kept: 1024 * 1024 };

export async function settleInboundMail(
  tx: Queryable,
  { id, lease_number }: LeasedMail,
  { status, result }: MailResult,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    update inbound_mails
    set status = ${status}, result = ${result}, settled_at = ${now},
      raw = substring(raw for ${KEPT_BYTES[status]}::integer)
    where id = ${id} and lease_number = ${lease_number} and status = 'received'`);
}

/** Ends a lease; the mail is due again at the given time. */
export async function releaseInboundMail(
  db: Queryable,
  { id, lease_number }: LeasedMail,
  dueAt: Date,
): Promise<void> {
  await db.run(sql`
    update inbound_mails set due_at = ${dueAt}
    where id = ${id} and lease_number = ${lease_number} and status = 'received'`);
}

/** Removes up to `most` mails that were processed before this time. @returns how many */
export function removeProcessedMails(db: Queryable, before: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from inbound_mails where ctid = any(array(
      select ctid from inbound_mails
      where status = 'processed' and settled_at < ${before} order by settled_at limit ${most}))`);
}

/** Removes up to `most` mails of a status, except the newest `mostKept`. @returns how many */
export function removeOlderMails(
  db: Queryable,
  status: "quarantined" | "kept",
  mostKept: number,
  most: number,
): Promise<number> {
  return db.run(sql`
    delete from inbound_mails where ctid = any(array(
      select ctid from inbound_mails
      where status = ${status} order by id desc offset ${mostKept} limit ${most}))`);
}

export interface ListedMail {
  readonly id: string;
  readonly received_at: Date;
  readonly kind: InboundAddress["kind"];
  readonly status: "received" | MailResult["status"];
  readonly result: string | null;
  readonly mail_from: string;
  readonly rcpt_to: string;
  readonly bytes: number;
}

/** Newest first. */
export function listInboundMails(
  db: Queryable,
  status: ListedMail["status"],
  most: number,
): Promise<ListedMail[]> {
  return db.rows(sql`
    select id, received_at, kind, status, result, mail_from, rcpt_to, bytes from inbound_mails
    where status = ${status} order by id desc limit ${most}`);
}

/** The kept octets of a mail. */
export async function findRawMail(db: Queryable, id: string): Promise<Buffer | undefined> {
  const row = await db.row<{ raw: Buffer }>(sql`select raw from inbound_mails where id = ${id}`);
  return row?.raw;
}

/** Mails that wait to be processed, by class. */
export async function countWaitingMails(db: Queryable): Promise<Record<MailClass, number>> {
  const rows = await db.rows<{ class: MailClass; count: number }>(sql`
    select class, count(*) from inbound_mails where status = 'received' group by class`);
  return { signed: 0, open: 0, ...Object.fromEntries(rows.map((row) => [row.class, row.count])) };
}

/** The age in seconds of the oldest waiting mail, by class; 0 when none waits. */
export async function waitOfOldestMail(db: Queryable, now: Date): Promise<Record<MailClass, number>> {
  const rows = await db.rows<{ class: MailClass; oldest: Date }>(sql`
    select class, min(received_at) as oldest from inbound_mails where status = 'received' group by class`);
  const waited = rows.map((row) => [row.class, Math.max(0, now.getTime() - row.oldest.getTime()) / 1_000]);
  return { signed: 0, open: 0, ...Object.fromEntries(waited) };
}

/** Mails by status. */
export async function countInboundMails(db: Queryable): Promise<Record<string, number>> {
  const rows = await db.rows<{ status: string; count: number }>(sql`
    select status, count(*) from inbound_mails group by status`);
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}
