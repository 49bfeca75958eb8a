/** Mail that came in and what became of it. It is the installation's: whose it is shows when it is read. */
import sql from "sql-template-tag";
import type { Queryable } from "../../platform/database/pool.ts";
import type { ReturnedAddress } from "./returned-address.ts";

export interface NewInboundMail {
  readonly id: string;
  readonly kind: ReturnedAddress["kind"];
  readonly mailFrom: string;
  readonly rcptTo: string;
  readonly network: string;
  readonly raw: Buffer;
  /** As it came. */
  readonly bytes: number;
}

/** Stores all of them, or none and says false when too much waits already. */
export async function insertInboundMails(
  db: Queryable,
  mails: readonly NewInboundMail[],
  most: { readonly waiting: number; readonly bytes: number },
  now: Date,
): Promise<boolean> {
  const column = <Value>(read: (mail: NewInboundMail) => Value) => mails.map(read);
  const stored = await db.run(sql`
    insert into inbound_mails (id, kind, mail_from, rcpt_to, network, raw, bytes, due_at, received_at)
    select m.*, ${now}, ${now}
    from unnest(${column((mail) => mail.id)}::uuid[], ${column((mail) => mail.kind)}::text[],
      ${column((mail) => mail.mailFrom)}::text[], ${column((mail) => mail.rcptTo)}::text[],
      ${column((mail) => mail.network)}::text[], ${column((mail) => mail.raw)}::bytea[],
      ${column((mail) => mail.bytes)}::integer[]) as m
    where (
      select count(*) < ${most.waiting} and coalesce(sum(bytes), 0) < ${most.bytes}
      from inbound_mails where status = 'received')`);
  return stored > 0;
}

/** A mail that one process holds; the number of its lease is how often it was taken. */
export interface LeasedMail {
  readonly id: string;
  readonly lease_number: number;
}

/** The oldest that are due, held until the given moment. */
export function leaseInboundMails(
  db: Queryable,
  { now, until, most }: { readonly now: Date; readonly until: Date; readonly most: number },
): Promise<LeasedMail[]> {
  return db.rows(sql`
    with due as materialized (
      select id from inbound_mails where status = 'received' and due_at <= ${now}
      order by due_at limit ${most} for update skip locked)
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

/** Whether the lease is still the newest; then it stays so until the transaction ends. */
export async function lockInboundMail(tx: Queryable, { id, lease_number }: LeasedMail): Promise<boolean> {
  const held = await tx.row(sql`
    select from inbound_mails
    where id = ${id} and lease_number = ${lease_number} and status = 'received' for update`);
  return held !== undefined;
}

/** How a mail ends. */
export interface Settled {
  readonly status: "processed" | "quarantined" | "kept";
  readonly result: string;
}

export const processed = (result: string): Settled => ({ status: "processed", result });
export const quarantined = (result: string): Settled => ({ status: "quarantined", result });

/** Octets that are kept: of what is done with, its header; of what somebody will look at, the beginning. */
const KEPT_BYTES = { processed: 16 * 1024, quarantined: 256 * 1024, kept: 1024 * 1024 };

export async function settleInboundMail(
  tx: Queryable,
  { id, lease_number }: LeasedMail,
  { status, result }: Settled,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    update inbound_mails
    set status = ${status}, result = ${result}, settled_at = ${now},
      raw = substring(raw for ${KEPT_BYTES[status]}::integer)
    where id = ${id} and lease_number = ${lease_number} and status = 'received'`);
}

/** Gives a mail back, to be taken again at that time. */
export async function releaseInboundMail(
  db: Queryable,
  { id, lease_number }: LeasedMail,
  dueAt: Date,
): Promise<void> {
  await db.run(sql`
    update inbound_mails set due_at = ${dueAt}
    where id = ${id} and lease_number = ${lease_number} and status = 'received'`);
}

/** Removes up to `most` of the mails that were done with before then, and says how many. */
export function removeProcessedMails(db: Queryable, before: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from inbound_mails where ctid = any(array(
      select ctid from inbound_mails
      where status = 'processed' and settled_at < ${before} order by settled_at limit ${most}))`);
}

/** As that, of what is kept to be looked at; the newest of it stay. */
export function removeUnshownMails(
  db: Queryable,
  status: "quarantined" | "kept",
  mostShown: number,
  most: number,
): Promise<number> {
  return db.run(sql`
    delete from inbound_mails where ctid = any(array(
      select ctid from inbound_mails
      where status = ${status} order by id desc offset ${mostShown} limit ${most}))`);
}

export interface ShownMail {
  readonly id: string;
  readonly received_at: Date;
  readonly kind: ReturnedAddress["kind"];
  readonly status: "received" | Settled["status"];
  readonly result: string | null;
  readonly mail_from: string;
  readonly rcpt_to: string;
  readonly bytes: number;
}

/** Newest first. */
export function listInboundMails(
  db: Queryable,
  status: ShownMail["status"],
  most: number,
): Promise<ShownMail[]> {
  return db.rows(sql`
    select id, received_at, kind, status, result, mail_from, rcpt_to, bytes from inbound_mails
    where status = ${status} order by id desc limit ${most}`);
}

/** What is kept of one mail. */
export async function findRawMail(db: Queryable, id: string): Promise<Buffer | undefined> {
  const row = await db.row<{ raw: Buffer }>(sql`select raw from inbound_mails where id = ${id}`);
  return row?.raw;
}

/** By status. */
export async function countInboundMails(db: Queryable): Promise<Record<string, number>> {
  const rows = await db.rows<{ status: string; count: number }>(sql`
    select status, count(*) from inbound_mails group by status`);
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}
