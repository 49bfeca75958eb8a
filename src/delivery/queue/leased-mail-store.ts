/**
 * Reads what is sent of leased messages. It is a statement of its own: with ids that are known beforehand PostgreSQL opens
 * the days of the log that they are in, and not every day at every lease.
 */
import sql from "sql-template-tag";
import type { LeasedMessage } from "#delivery/message/message.ts";
import { inSpanOfSql, submissionsOfSql } from "#messages/partitions/ids-span.ts";
import { integerArray, uuidArray } from "#platform/database/binary-arrays.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { LARGE_BYTES } from "./lease-order.ts";

/** A leased message as the queue has it. */
export type LeasedEntry = Pick<
  LeasedMessage,
  | "workspace_id"
  | "message_id"
  | "lease_number"
  | "priority"
  | "attempts"
  | "bytes"
  | "expires_at"
  | "lives_ms"
  | "first_attempt_at"
  | "is_stale"
  | "routing_version"
  | "source_ip"
>;

type Mail = Omit<LeasedMessage, keyof LeasedEntry> & {
  /** The position of its entry, from 1. */
  readonly place: number;
};

/** The messages with their mail, in the same order. Those that are no longer in the log are left out. */
export async function withMail<Entry extends LeasedEntry>(
  db: Queryable,
  entries: readonly Entry[],
): Promise<(Entry & LeasedMessage)[]> {
  if (entries.length === 0) return [];
  const ids = entries.map((entry) => entry.message_id);
  const mails = await db.rows<Mail>(
    sql`
    select leased.place::int as place, m.*, c.from_name, c.to_name, coalesce(c.particulars, s.particulars) as particulars,
      leased.bytes > ${LARGE_BYTES} as is_large,
      case when leased.bytes <= ${LARGE_BYTES} then coalesce(c.html, s.html) end as html,
      case when leased.bytes <= ${LARGE_BYTES} then coalesce(c.text, s.text) end as text,
      case when leased.bytes <= ${LARGE_BYTES} then coalesce(c.attachments, s.attachments) end as attachments,
      case when leased.bytes <= ${LARGE_BYTES} then s.raw end as raw,
      c.message_id is not null and (c.submission_id is null or s.id is not null) as has_content
    from unnest(
      ${uuidArray(entries.map((entry) => entry.workspace_id))}::uuid[], ${uuidArray(ids)}::uuid[],
      ${integerArray(entries.map((entry) => entry.bytes))}::integer[])
      with ordinality as leased (workspace_id, message_id, bytes, place)
    -- Lateral with offset 0; otherwise the planner would scan a whole partition that has not been analyzed yet.
    cross join lateral (
      select created_at, source, origin_id, from_email, localpart, domain, subject from messages m
      where m.workspace_id = leased.workspace_id and m.id = leased.message_id ${inSpanOfSql(sql`m.id`, ids)} offset 0) m
    left join lateral (
      select * from message_contents c
      where c.workspace_id = leased.workspace_id and c.message_id = leased.message_id
        ${inSpanOfSql(sql`c.message_id`, ids)} offset 0) c on true
    left join lateral (
      select id, raw, html, text, attachments, particulars from submissions s
      where s.workspace_id = leased.workspace_id and s.id = c.submission_id ${submissionsOfSql(sql`s.id`, ids)}
      offset 0) s on true
    order by leased.place`,
    "read leased mail",
  );
  return mails.flatMap(({ place, ...mail }) => {
    const entry = entries[place - 1];
    return entry === undefined ? [] : [{ ...entry, ...mail }];
  });
}
