/**
 * Refunds the allowance of messages that were never sent, in the transaction that records their outcome: the recipient
 * was suppressed or the campaign cancelled before the first attempt, or the service itself failed. A message that a mail
 * server was asked to take is not refunded: the owner of such a server could otherwise receive the mail, defer it, and
 * cancel it for the refund. A message that only waited for a source address or for a DNS answer is refunded, because no
 * server was asked.
 */
import sql from "sql-template-tag";
import { type MovedMessage, OUR_FAULT } from "#messages/message/outcome.ts";
import { inSpanOfSql } from "#messages/partitions/ids-span.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { addEntriesSql } from "#workspace/billing/meter-store.ts";

type EndedMessage = Pick<
  MovedMessage,
  "workspaceId" | "messageId" | "source" | "isSms" | "from" | "status" | "code" | "enhancedCode"
>;

export async function refundUnsent(tx: Queryable, moved: readonly EndedMessage[], now: Date): Promise<void> {
  const refundable = moved.filter((one) => isMetered(one) && isUnsent(one));
  if (refundable.length > 0) await noteRefund(tx, refundable, now);
}

/** The service's own mail and SMS take nothing from the allowance for emails. */
function isMetered({ source, isSms }: EndedMessage): boolean {
  return source !== "platform" && !isSms;
}

const unsentStatuses: ReadonlySet<string> = new Set(["suppressed", "cancelled"]);

/** A failure counts as ours only if neither a remote server nor a remote DNS caused it. */
function isUnsent({ status, code, enhancedCode }: EndedMessage): boolean {
  return unsentStatuses.has(status) || (status === "failed" && code === null && enhancedCode === OUR_FAULT);
}

/**
 * A deferred message is refunded only if no deferral in the log names an MX host. A deferral with neither host nor
 * enhanced code is one whose details the database rejected, so a server did answer: it is not refunded.
 */
async function noteRefund(
  tx: Queryable,
  messages: readonly Pick<EndedMessage, "workspaceId" | "messageId" | "from">[],
  now: Date,
): Promise<void> {
  const ids = messages.map(({ messageId }) => messageId);
  const unused = sql`(
    select workspace_id, -count(*)::int as quantity
    from unnest(
      ${messages.map(({ workspaceId }) => workspaceId)}::uuid[], ${ids}::uuid[],
      ${messages.map(({ from }) => from === "deferred")}::boolean[]) as m (workspace_id, message_id, was_deferred)
    where not was_deferred or not exists (
      select from message_events e
      where e.workspace_id = m.workspace_id and e.message_id = m.message_id and e.type = 'deferred'
        and (e.mx_host is not null or e.enhanced_code is null) ${inSpanOfSql(sql`e.message_id`, ids)})
    group by workspace_id) unused`;
  await tx.run(addEntriesSql("email", unused, now));
}
