/** Drafts become messages: log row, content and queue row in one statement, with the meter and whoever else hears of it. */

import sql, { empty, type Sql } from "sql-template-tag";
import { entriesFor, suppressionSql } from "#audience/suppression-lists/suppression-check.ts";
import type { Priority } from "#delivery/message/message.ts";
import { enqueueSql } from "#delivery/queue/queue-store.ts";
import { expiryOf } from "#delivery/queue/retry-schedule.ts";
import type { SenderQuestion } from "#identity/may-send-as.ts";
import { insertMessagesSql, type NewMessage, willBeSentSql } from "#messages/store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { Reservation } from "#platform/http/idempotency/idempotency.ts";
import { recipientOf, takeAcceptedSql } from "./allowance.ts";

export interface Draft {
  readonly message: NewMessage;
  readonly priority: Priority;
  /** How long it is tried again. */
  readonly retryHours: number;
  /** Who must be allowed to send: null for the platform's own mail. */
  readonly sender: SenderQuestion | null;
  /** The message's `bounceEmail`, which has to be an address that the workspace may send as. */
  readonly bouncesTo?: SenderQuestion | null;
  readonly idempotency?: { readonly held: Reservation; readonly data: unknown } | undefined;
}

/**
 * A part of the accepting statement that hears of the rows it writes to the log (a relation), and so of the messages that
 * are suppressed at once.
 */
export type AnnounceSuppressed = (log: Sql) => Sql;

/** Log, contents and queue in one statement, whoever sends. They are metered at `now`, or at the time that they bear. */
export async function insertDrafts(
  db: Queryable,
  drafts: readonly Draft[],
  announceSuppressed?: AnnounceSuppressed,
  now?: Date,
): Promise<void> {
  if (drafts.length === 0) return;
  const name = announceSuppressed ? "insert and announce messages" : "insert messages";
  await db.rows(
    sql`with ${insertsOf(drafts, { condition: sql`true`, announceSuppressed, now })} select`,
    name,
  );
}

export interface Inserting {
  /** They happen where it holds; it may ask `suppressions`, the entries in force for the recipients. */
  readonly condition: Sql;
  /** The condition fails when there are any, and no draft is a submission: half of the statement is not needed then. */
  readonly isPlain?: boolean;
  readonly announceSuppressed?: AnnounceSuppressed | undefined;
  /** When they are metered; at the time that they bear unless said. */
  readonly now?: Date | undefined;
}

/** The parts of such a statement. */
export function insertsOf(
  drafts: readonly Draft[],
  { condition, isPlain = false, announceSuppressed, now }: Inserting,
): Sql {
  const messages = drafts.map(({ message }) => message);
  const recipients = messages.map(recipientOf);
  const judging = isPlain
    ? null
    : {
        addresses: recipients.map(({ address }) => address),
        verdict: sql`lateral (
          select detail from (
            select m.workspace_id, m.address, m.domain, m.source = 'platform' as is_platform,
              null::uuid as mailing_list_id, null::uuid as segment_id) asked
          cross join ${suppressionSql(sql`asked`, { found: sql`suppressions` })} as verdict)`,
      };
  const queue = enqueueSql(
    drafts.map(({ message, priority, retryHours }) => ({
      workspaceId: message.workspaceId,
      messageId: message.id,
      priority,
      domain: message.domain,
      bytes: contentOctets(message),
      expiresAt: expiryOf(message.createdAt, retryHours),
    })),
    sql`${condition} and ${willBeSentSql(judging)}`,
  );
  return sql`
    suppressions as materialized (${entriesFor(recipients)}),
    ${insertMessagesSql(messages, { condition, judging })}, queue as (${queue}),
    meter as (${takeAcceptedSql(messages, now ?? messages[0]?.createdAt ?? new Date(), isPlain)})
    ${announceSuppressed && !isPlain ? sql`, announced as (${announceSuppressed(sql`log`)})` : empty}`;
}

/** Octets of content, as a worker has to hold them. */
export function contentOctets({ html, text, attachments, submission }: NewMessage): number {
  const attached = attachments.reduce((sum, attachment) => sum + attachment.content.length, 0);
  return (html?.length ?? 0) + (text?.length ?? 0) + attached + (submission?.raw.length ?? 0);
}
