/**
 * Parts of the statements by which campaigns and autoresponders make mail for many people: why a person gets no mail, and
 * the log rows and queue rows of those who do.
 */

import sql, { empty, type Sql } from "sql-template-tag";
import { suppressionSql } from "#audience/suppression-lists/suppression-check.ts";
import { enqueueAllSql } from "#delivery/queue/queue-store.ts";
import type { MessageOrigin } from "#messages/message/status.ts";
import { insertQueuedSql } from "#messages/store.ts";
import { takeBulkMailSql } from "./take-allowance.ts";

/**
 * The rows of `people` with a `cause`: why this person gets no mail, or null. `people` is a relation with subscriber_id,
 * `status` (on the list, or in the workspace when there is no list), and the columns that verdictOn needs.
 * @param unreachable ids of subscribers without a valid telephone number, for an SMS
 */
export const exclusionsSql = (people: Sql, unreachable: readonly string[] = []): Sql => sql`(
  select asked.*, case
      when asked.status = 'unsubscribed' then 'unsubscribed'
      when asked.status = 'bounced' then 'invalid'
      when asked.status <> 'active' or verdict.reason is not null then 'suppressed'
      when asked.domain not like '%_.%_' or asked.subscriber_id = any (${[...unreachable]}::uuid[]) then 'invalid'
      end as cause
  from ${people} asked left join ${suppressionSql(sql`asked`)} as verdict on true)`;

/** The properties that all mail of one step shares. */
export interface BulkMail extends MessageOrigin {
  /** Size of the content: the memory that a worker needs for one of the messages. */
  readonly bytes: number;
  /** At least as many ids as there are people; ascending. */
  readonly messageIds: readonly string[];
  readonly expiresAt: Date;
}

/** Names of the parts of insertBulkMailSql that the caller's statement reads. */
export interface BulkMailNames {
  /** The columns of `people` with id and localpart. */
  readonly mail: Sql;
  /** Columns domain and queued. */
  readonly byDomain: Sql;
}

/**
 * Parts of a `with` that write one message for each of `people` (a relation with subscriber_id, address and domain), in
 * the order of subscriber ids, which is that of message ids. SMS take nothing from the allowance for emails. Besides the
 * given names it uses `log`, `notes`, `queue` and `meter`, which have no rows.
 */
export function insertBulkMailSql(
  people: Sql,
  { messageIds, ...making }: BulkMail,
  names: BulkMailNames,
): Sql {
  const { workspaceId, originId, bytes, expiresAt, createdAt, isSms = false } = making;
  const { mail } = names;
  const entry = { workspaceId, campaignId: originId, priority: 1, bytes, expiresAt } as const;
  return sql`
    ${mail} as materialized (
      select c.*, split_part(address, '@', 1) as localpart,
        (${[...messageIds]}::uuid[])[row_number() over (order by subscriber_id)] as id
      from ${people} c
    ), ${insertQueuedSql(names, making)}, queue as (
      ${enqueueAllSql(mail, entry)}
    )${isSms ? empty : sql`, meter as (${takeBulkMailSql(mail, workspaceId, createdAt)})`}`;
}
