/**
 * The statement that accepts messages: log rows, contents, queue rows, usage and events in one round trip. The parts come
 * from the stores of several wings. `ctes` names the parts that other parts read, in their order; every fragment gets the
 * names it reads as arguments, so that a renamed part does not compile anywhere else. db/statements/accept-messages.sql
 * shows the whole statement.
 */

import sql, { empty, type Sql } from "sql-template-tag";
import { entriesFor, suppressionSql } from "#audience/suppression-lists/suppression-check.ts";
import type { Priority } from "#delivery/message/message.ts";
import { enqueueSql } from "#delivery/queue/queue-store.ts";
import { expiryOf } from "#delivery/queue/retry-schedule.ts";
import type { SenderQuestion } from "#identity/may-send-as.ts";
import { haveLabels, insertMessagesSql, type NewMessage, willBeSentSql } from "#messages/store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { Reservation } from "#platform/http/idempotency/idempotency.ts";
import { recipientOf, takeAcceptedSql } from "./take-allowance.ts";

export interface Draft {
  readonly message: NewMessage;
  readonly priority: Priority;
  /** Hours after `dueAt` during which a deferred message is retried. */
  readonly retryHours: number;
  /** When the first attempt is due; at once when omitted. */
  readonly dueAt?: Date;
  /** The sender that the workspace must be allowed to use; null for the service's own mail. */
  readonly sender: SenderQuestion | null;
  /** The message's `bounceEmail`, which the workspace must be allowed to send as. */
  readonly bouncesTo?: SenderQuestion | null;
  readonly idempotency?: { readonly held: Reservation; readonly data: unknown } | undefined;
}

/** The parts of the accepting statement that other parts read. */
export const ctes = {
  /** One row: whether all senders are allowed (`may_send`). */
  senders: sql`senders`,
  /** One row: whether all workspaces are far from their limits (`is_wide`). */
  allowances: sql`allowances`,
  /** Suppression entries in force for the recipients. */
  suppressions: sql`suppressions`,
  /** The inserted rows of the message log. */
  log: sql`log`,
  /** The inserted contents. */
  contents: sql`contents`,
} as const;

/**
 * A part of the accepting statement that writes the events of messages that are suppressed at acceptance.
 * @param log the relation of the inserted log rows
 */
export type AnnounceSuppressed = (log: Sql) => Sql;

/**
 * Inserts the drafts without checking senders or allowance.
 * @param now the time of their usage; the time of each message when omitted
 */
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
    nameFor(drafts, name),
  );
}

/** The name of a prepared statement with these inserts: their text depends on what the drafts have. */
export function nameFor(drafts: readonly Draft[], name: string): string {
  const labelled = haveLabels(drafts.map(({ message }) => message)) ? " with labels" : "";
  return `${name}${labelled}${drafts.some(({ dueAt }) => dueAt !== undefined) ? " for later" : ""}`;
}

export interface Inserting {
  /** Rows are inserted only if it is true. It may read `ctes.suppressions`. */
  readonly condition: Sql;
  /**
   * Whether the condition is false when there is any suppression entry, and no draft is a submission. The parts for
   * suppressed messages and submissions are left out then.
   */
  readonly isPlain?: boolean;
  readonly announceSuppressed?: AnnounceSuppressed | undefined;
  /** The time of their usage; the time of the first message when omitted. */
  readonly now?: Date | undefined;
}

/** The inserting parts of the accepting statement, to follow a `with`. */
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
          cross join ${suppressionSql(sql`asked`, { found: ctes.suppressions })} as verdict)`,
      };
  const admission = { log: ctes.log, contents: ctes.contents, condition, judging };
  const queue = enqueueSql(
    drafts.map(({ message, priority, retryHours, dueAt }) => ({
      workspaceId: message.workspaceId,
      messageId: message.id,
      priority,
      domain: message.domain,
      bytes: contentOctets(message),
      expiresAt: expiryOf(dueAt ?? message.createdAt, retryHours),
      waitMs: dueAt && dueAt.getTime() - message.createdAt.getTime(),
    })),
    sql`${condition} and ${willBeSentSql(admission)}`,
  );
  const meteredAt = now ?? messages[0]?.createdAt ?? new Date();
  return sql`
    ${ctes.suppressions} as materialized (${entriesFor(recipients)}),
    ${insertMessagesSql(messages, admission)}, queue as (${queue}),
    meter as (${takeAcceptedSql(messages, { accepted: ctes.log, now: meteredAt, isPlain })})
    ${announceSuppressed && !isPlain ? sql`, ${announceSuppressed(ctes.log)}` : empty}`;
}

/** Octets of content that a delivery worker has in memory while it sends the message. */
export function contentOctets({ html, text, attachments, submission }: NewMessage): number {
  const attached = attachments.reduce((sum, attachment) => sum + attachment.content.length, 0);
  return (html?.length ?? 0) + (text?.length ?? 0) + attached + (submission?.raw?.length ?? 0);
}
