/**
 * What a delivery report means for the message that its signed return path names. It never says anything of another
 * message's recipient: outcome-of.ts decides which of its recipients is this message's.
 */

import { createHash } from "node:crypto";
import { type MailResult, processed } from "#inbound/parsing/mail-result.ts";
import { storable } from "#inbound/parsing/storable-text.ts";
import type { Bounce, BounceVerdict } from "#mail/bounces/bounce.ts";
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

/** A report as it came to a message's return path. */
export interface ReturnedReport {
  readonly messageId: string;
  readonly bounce: Bounce;
  /** The message whose signed token the returned header bears; null when it bears none. */
  readonly signedId: string | null;
  readonly raw: Buffer;
}

export async function applyBounce(
  tx: Queryable,
  { messageId, bounce, signedId, raw }: ReturnedReport,
  { onMoved, sendPlatformMail, log }: OutcomeDeps,
  now: Date,
): Promise<MailResult> {
  if (bounce.kind === "auto_reply") return processed("auto_reply");
  const message = await findSentMessage(tx, messageId);
  if (message === undefined) return processed("message_gone");
  const news = matchRecipient(bounce.recipients, message, signedId);
  if (news === undefined) return processed("other_recipient");
  const result = await settleNews(tx, message, news, onMoved, now);
  if (result === "bounced" || result === "delayed") {
    const missing = await sendBounceCopy(tx, sendPlatformMail, message, {
      kind: result,
      news: news.recipient,
      raw,
    });
    if (typeof missing === "object" && missing !== null) {
      const { workspaceId: workspace_id, id: message_id } = message;
      log.info({ workspace_id, message_id, limit: missing.name }, "a bounce was not copied to bounce_email");
    }
  }
  return processed(result);
}

async function settleNews(
  tx: Queryable,
  message: SentMessage,
  news: MatchedRecipient,
  onMoved: OnMoved,
  now: Date,
): Promise<string> {
  const { recipient, forwardedTo } = news;
  if (recipient.action === "delayed") {
    const notice = { ...aboutMessage(message), id: noticeId(message.id, now), time: now, ...said(news) };
    return (await insertDelayNotice(tx, notice)) ? "delayed" : "known";
  }
  if (recipient.verdict === null) return recipient.action;
  const toldOf: OnMoved =
    forwardedTo === null
      ? onMoved
      : (inside, moved) =>
          onMoved(
            inside,
            moved.map((one) => ({ ...one, isForward: true })),
          );
  return (await recordOutcome(tx, bouncedOf(message, news, now), toldOf)) ? "bounced" : "known";
}

function bouncedOf(message: SentMessage, news: MatchedRecipient, now: Date): Outcome {
  const { verdict, code } = news.recipient;
  return {
    ...unclassified,
    ...aboutMessage(message),
    ...said(news),
    status: "bounced",
    time: now,
    attempts: null,
    nextAttemptAt: null,
    code,
    isAddressFault: verdict?.suppress === true && news.forwardedTo === null,
    classification: classificationOf(verdict, news.forwardedTo !== null),
  };
}

function classificationOf(verdict: BounceVerdict | null, isForward: boolean): Classification {
  const { bounceClass = "soft", category = "Undetermined" } = verdict ?? {};
  // The mailbox at fault is not the recipient's: no category of a hard bounce holds of that one.
  if (isForward) return { type: "soft", category: bounceClass === "hard" ? "General" : category };
  // What they take for a fault of ours came from the receiver's side all the same, and not from the address.
  return { type: bounceClass === "ours" ? "soft" : bounceClass, category };
}

function aboutMessage({ workspaceId, id }: SentMessage) {
  return { workspaceId, messageId: id };
}

function said({ recipient: { status, diagnostic, remoteMta }, forwardedTo }: MatchedRecipient) {
  const words = storable(diagnostic) || `The report says no more than ${status ?? "that"}`;
  return {
    detail:
      forwardedTo === null
        ? words
        : `Of the mailbox ${storable(forwardedTo).slice(0, LONGEST_NAME)}, to which it was forwarded: ${words}`,
    mxHost: remoteMta === null ? null : storable(remoteMta).slice(0, LONGEST_HOST),
    enhancedCode: status,
  };
}

/** One notice a day of each message is enough, whoever sends how many. */
function noticeId(messageId: string, now: Date): string {
  const hex = createHash("sha256")
    .update(`delayed ${messageId} ${now.toISOString().slice(0, 10)}`)
    .digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
