/**
 * What campaigns and autoresponders do alike when they go through people: they judge whom mail may reach at this moment,
 * and make log row and queue row of the mail to those it reaches. Parts of their statements.
 */

import sql, { empty, type Sql } from "sql-template-tag";
import { verdictOn } from "#audience/suppression-lists/suppression-check.ts";
import { enqueueAllSql } from "#delivery/queue/queue-store.ts";
import type { MessageOrigin } from "#messages/message/status.ts";
import { insertQueuedSql } from "#messages/store.ts";
import { takeMadeSql } from "./allowance.ts";

/**
 * The rows of `people`, each with what keeps mail from this person (`cause`), or null. `people` is a relation with
 * subscriber_id, the `status` that counts, and what verdictOn asks for. An address that bounced takes no mail; who is
 * unreachable has no telephone number for an SMS.
 */
export const judgedSql = (people: Sql, unreachable: readonly string[] = []): Sql => sql`(
  select asked.*, case
      when asked.status = 'unsubscribed' then 'unsubscribed'
      when asked.status = 'bounced' then 'invalid'
      when asked.status <> 'active' or verdict.reason is not null then 'suppressed'
      when asked.domain not like '%_.%_' or asked.subscriber_id = any (${[...unreachable]}::uuid[]) then 'invalid'
      end as cause
  from ${people} asked left join ${verdictOn(sql`asked`)} as verdict on true)`;

/** What the mail of one step has in common. */
export interface Making extends MessageOrigin {
  /** Of the content: what a worker holds while it sends one of the messages. */
  readonly bytes: number;
  /** As many as there may be people; ascending. */
  readonly messageIds: readonly string[];
  readonly expiresAt: Date;
}

/**
 * Makes `mail` of the people `chosen` (a relation with subscriber_id, address and domain): its columns with id and
 * localpart, in the order of people and of ids. SMS take nothing from the allowance for emails.
 *
 * To stand in the caller's `with`, which must not hold these names itself: `mail` and `by_domain` (domain, queued), which
 * the caller may read, and `log`, `deltas`, `queue` and `meter`, which only write and have no rows.
 */
export function makeMailSql(chosen: Sql, { messageIds, ...making }: Making): Sql {
  const { workspaceId, originId, bytes, expiresAt, createdAt, isSms = false } = making;
  const entry = { workspaceId, campaignId: originId, priority: 1, bytes, expiresAt } as const;
  return sql`
    mail as materialized (
      select c.*, split_part(address, '@', 1) as localpart,
        (${[...messageIds]}::uuid[])[row_number() over (order by subscriber_id)] as id
      from ${chosen} c
    ), ${insertQueuedSql(sql`mail`, making)}, queue as (
      ${enqueueAllSql(sql`mail`, entry)}
    )${isSms ? empty : sql`, meter as (${takeMadeSql(workspaceId, createdAt)})`}`;
}
