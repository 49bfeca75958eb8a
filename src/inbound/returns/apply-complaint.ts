/**
 * Applies a complaint (ARF) to the message it is about. A report proves nothing by itself; only our signed token in the
 * returned header or return path does. So a complaint counts for the recipient of that message only.
 */

import { type MailResult, processed, quarantined } from "#inbound/parsing/mail-result.ts";
import { storable } from "#inbound/parsing/storable-text.ts";
import { domainOf } from "#mail/address.ts";
import type { Complaint } from "#mail/bounces/arf.ts";
import type { NamedMessage } from "#mail/bounces/verp.ts";
import { parseMailbox } from "#mail/mailbox.ts";
import { type OnMoved, type Outcome, unclassified } from "#messages/message/outcome.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { PurposeKeys } from "#platform/secrets/secrets.ts";
import { recordOutcome } from "./record-outcome.ts";
import { signedMessage } from "./resolve-inbound-address.ts";
import { findSentMessage } from "./sent-message-store.ts";

/** The message whose signed token is in the complaint, however old it is: people complain when they open their mail. */
export function complainedMessage(
  { returned, cfblFeedbackId, originalMailFrom }: Complaint,
  keys: PurposeKeys,
): NamedMessage | null {
  return signedMessage([returned?.token, cfblFeedbackId, originalMailFrom, returned?.returnPath], keys);
}

export async function applyComplaint(
  tx: Queryable,
  { about, complaint }: { readonly about: NamedMessage | null; readonly complaint: Complaint },
  onMoved: OnMoved,
  now: Date,
): Promise<MailResult> {
  const feedbackType = storable(complaint.feedbackType).slice(0, 100);
  if (!complaint.counts) return processed(`not_counted: ${feedbackType}`);
  if (about === null) return quarantined("the complaint has no signed token of a message");
  const message = await findSentMessage(tx, about);
  if (message === undefined) return processed("message_gone");
  const outcome = {
    ...unclassified,
    workspaceId: message.workspaceId,
    messageId: message.id,
    time: now,
    attempts: null,
    nextAttemptAt: null,
    mxHost: null,
    code: null,
    enhancedCode: null,
    isAddressFault: false,
  };
  // Changes only a message that is still queued or deferred.
  const delivered: Outcome = {
    ...outcome,
    status: "delivered",
    detail: "Delivered: its recipient complained about it",
  };
  await recordOutcome(tx, delivered, onMoved);
  const complained: Outcome = {
    ...outcome,
    status: "complained",
    detail: `The recipient complained (${feedbackType})`,
    complaint: { feedbackType, provider: providerOf(complaint) },
  };
  return processed((await recordOutcome(tx, complained, onMoved)) ? "complained" : "known");
}

/** The domain of the report's sender, or what the report says about its origin. */
function providerOf({ from, reportingMta, userAgent }: Complaint): string | null {
  const sender = parseMailbox(from ?? "");
  const name = sender.ok ? domainOf(sender.address) : (reportingMta ?? userAgent);
  return storable(name ?? "").trim() || null;
}
