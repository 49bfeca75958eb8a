/**
 * What a delivery report means for the message that its signed return path names. The report may say of others what it
 * likes: only the message's own recipient is heard of, or a report that names nobody.
 */
import { createHash } from "node:crypto";
import { addressOf } from "../../audience/suppression-lists/judge.ts";
import { normalizeAddress } from "../../mail/address.ts";
import type { Bounce, BounceRecipient } from "../../mail/bounces/bounce.ts";
import { insertDelayNotice } from "../../messages/notice-store.ts";
import { type OnMoved, type Outcome, unclassified } from "../../messages/outcome.ts";
import type { Queryable } from "../../platform/database/pool.ts";
import type { Log } from "../../platform/log.ts";
import type { SendPlatformMail } from "../../sending/platform-mail.ts";
import { storable } from "../storable.ts";
import { sendBounceCopy } from "./bounce-copy.ts";
import { findSentMessage, type SentMessage } from "./message-store.ts";
import { recordNews } from "./record-news.ts";
import { processed, type Settled } from "./store.ts";

export interface NewsDeps {
  readonly onMoved: OnMoved;
  readonly sendPlatformMail: SendPlatformMail;
  readonly log: Log;
}

const LONGEST_HOST = 255;

export async function settleBounce(
  tx: Queryable,
  { messageId, bounce, raw }: { readonly messageId: string; readonly bounce: Bounce; readonly raw: Buffer },
  { onMoved, sendPlatformMail, log }: NewsDeps,
  now: Date,
): Promise<Settled> {
  if (bounce.kind === "auto_reply") return processed("auto_reply");
  const message = await findSentMessage(tx, messageId);
  if (message === undefined) return processed("message_gone");
  const news = newsOf(bounce.recipients, message);
  if (news === undefined) return processed("other_recipient");
  const result = await settleNews(tx, message, news, onMoved, now);
  if (result === "bounced" || result === "delayed") {
    const missing = await sendBounceCopy(tx, sendPlatformMail, message, { kind: result, news, raw });
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
  news: BounceRecipient,
  onMoved: OnMoved,
  now: Date,
): Promise<string> {
  if (news.action === "delayed") {
    const notice = { ...aboutMessage(message), id: noticeId(message.id, now), time: now, ...said(news) };
    return (await insertDelayNotice(tx, notice)) ? "delayed" : "known";
  }
  if (news.verdict === null) return news.action;
  return (await recordNews(tx, bouncedOf(message, news, now), onMoved)) ? "bounced" : "known";
}

/** The recipient that the report is about: a failure before what is said besides. */
function newsOf(recipients: readonly BounceRecipient[], message: SentMessage): BounceRecipient | undefined {
  const own = addressOf(message);
  const named = recipients.filter((one) => namesIn(one).length > 0);
  const about =
    named.length === 0
      ? recipients
      : named.filter((one) => namesIn(one).some((name) => normalizeAddress(name) === own));
  return about.find(({ action }) => action === "failed") ?? about[0];
}

/** The addresses a report gives; other names say nothing. */
function namesIn({ address, finalRecipient }: BounceRecipient): string[] {
  return [address, finalRecipient].filter((name) => name?.includes("@") === true) as string[];
}

function bouncedOf(message: SentMessage, news: BounceRecipient, now: Date): Outcome {
  const { verdict, code } = news;
  // What they take for a fault of ours came from the receiver's side all the same, and not from the address.
  const type = verdict === null || verdict.bounceClass === "ours" ? "soft" : verdict.bounceClass;
  return {
    ...unclassified,
    ...aboutMessage(message),
    ...said(news),
    status: "bounced",
    time: now,
    attempts: null,
    nextAttemptAt: null,
    code,
    isAddressFault: verdict?.suppress === true,
    classification: { type, category: verdict?.category ?? "Undetermined" },
  };
}

function aboutMessage({ workspaceId, id }: SentMessage) {
  return { workspaceId, messageId: id };
}

function said({ status, diagnostic, remoteMta }: BounceRecipient) {
  return {
    detail: storable(diagnostic) || `The report says no more than ${status ?? "that"}`,
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
