/**
 * Applies a delivery report (DSN) to the message of the signed return path that it came to. The report changes no other
 * message: match-recipient.ts finds the recipient in it that is this message's.
 */

import { createHash } from "node:crypto";
import { type MailResult, processed } from "#inbound/parsing/mail-result.ts";
import { storable } from "#inbound/parsing/storable-text.ts";
import type { Bounce, BounceVerdict } from "#mail/bounces/read-bounce.ts";
import type { NamedMessage } from "#mail/bounces/verp.ts";
import { type Classification, type OnMoved, type Outcome, unclassified } from "#messages/message/outcome.ts";
import { insertDelayNotice } from "#messages/record-outcomes.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { Log } from "#platform/log/log.ts";
import type { SendPlatformMail } from "#sending/platform-mail/platform-mail.ts";
import { sendBounceCopy } from "./bounce-copy.ts";
import { type MatchedRecipient, matchRecipient } from "./match-recipient.ts";
import { recordOutcome } from "./record-outcome.ts";
import { findSentMessage, type SentMessage } from "./sent-message-store.ts";

export interface OutcomeDeps {
  readonly onMoved: OnMoved;
  readonly sendPlatformMail: SendPlatformMail;
  readonly log: Log;
}

const LONGEST_HOST = 255;
const LONGEST_NAME = 254;

/** A report that was sent to a message's return path. */
export interface ReturnedReport {
  readonly about: NamedMessage;
  readonly bounce: Bounce;
  /** The message whose signed token is in the returned header; null: no token. */
  readonly signedId: string | null;
  readonly raw: Buffer;
}

export async function applyBounce(
  tx: Queryable,
  { about, bounce, signedId, raw }: ReturnedReport,
  { onMoved, sendPlatformMail, log }: OutcomeDeps,
  now: Date,
): Promise<MailResult> {
  if (bounce.kind === "auto_reply") return processed("auto_reply");
  const message = await findSentMessage(tx, about);
  if (message === undefined) return processed("message_gone");
  const match = matchRecipient(bounce.recipients, message, signedId);
  if (match === undefined) return processed("other_recipient");
  const result = await recordBounce(tx, message, match, onMoved, now);
  if (result === "bounced" || result === "delayed") {
    const missing = await sendBounceCopy(tx, sendPlatformMail, message, {
      kind: result,
      bounce: match.recipient,
      raw,
    });
    if (typeof missing === "object" && missing !== null) {
      const { workspaceId: workspace_id, id: message_id } = message;
      log.info(
        { workspace_id, message_id, limit: missing.name },
        "bounce not copied to bounce_email: limit reached",
      );
    }
  }
  return processed(result);
}

async function recordBounce(
  tx: Queryable,
  message: SentMessage,
  match: MatchedRecipient,
  onMoved: OnMoved,
  now: Date,
): Promise<string> {
  const { recipient, forwardedTo } = match;
  if (recipient.action === "delayed") {
    const notice = {
      ...aboutMessage(message),
      id: noticeId(message.id, now),
      time: now,
      ...detailsOf(match),
    };
    return (await insertDelayNotice(tx, notice)) ? "delayed" : "known";
  }
  if (recipient.verdict === null) return recipient.action;
  const onMovedHere: OnMoved =
    forwardedTo === null
      ? onMoved
      : (inside, moved) =>
          onMoved(
            inside,
            moved.map((one) => ({ ...one, isForward: true })),
          );
  return (await recordOutcome(tx, bouncedOf(message, match, now), onMovedHere)) ? "bounced" : "known";
}

function bouncedOf(message: SentMessage, match: MatchedRecipient, now: Date): Outcome {
  const { verdict, code } = match.recipient;
  return {
    ...unclassified,
    ...aboutMessage(message),
    ...detailsOf(match),
    status: "bounced",
    time: now,
    attempts: null,
    nextAttemptAt: null,
    code,
    isAddressFault: verdict?.suppress === true && match.forwardedTo === null,
    classification: classificationOf(verdict, match.forwardedTo !== null),
  };
}

function classificationOf(verdict: BounceVerdict | null, isForward: boolean): Classification {
  const { bounceClass = "soft", category = "Undetermined" } = verdict ?? {};
  // The mailbox that failed is not the recipient's, so the category of a hard bounce does not apply to the recipient.
  if (isForward) return { type: "soft", category: bounceClass === "hard" ? "General" : category };
  // The receiver refuses this service: the address is not at fault.
  return { type: bounceClass === "ours" ? "soft" : bounceClass, category };
}

function aboutMessage({ workspaceId, id }: SentMessage) {
  return { workspaceId, messageId: id };
}

function detailsOf({ recipient: { status, diagnostic, remoteMta }, forwardedTo }: MatchedRecipient) {
  const words =
    storable(diagnostic) || `The report gives no reason${status === null ? "" : ` besides ${status}`}`;
  return {
    detail:
      forwardedTo === null
        ? words
        : `Forwarded to ${storable(forwardedTo).slice(0, LONGEST_NAME)}, which answered: ${words}`,
    mxHost: remoteMta === null ? null : storable(remoteMta).slice(0, LONGEST_HOST),
    enhancedCode: status,
  };
}

/** The same id for all delay reports about a message on one day, so that only the first is stored. */
function noticeId(messageId: string, now: Date): string {
  const hex = createHash("sha256")
    .update(`delayed ${messageId} ${now.toISOString().slice(0, 10)}`)
    .digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
