/**
 * The port for returned mail: bounces, complaints, reports and unsubscribe requests. RCPT resolves the address; a mail that
 * got 250 is in the database. Nothing is relayed or answered with a mail.
 */

import type { SMTPServerEnvelope } from "smtp-server";
import type { Conversation } from "#inbound/listener/conversation.ts";
import type { ReceivedMessage } from "#inbound/listener/message-data.ts";
import type { NetworkLog } from "#inbound/listener/network-log.ts";
import { answerSoon, SmtpReply } from "#inbound/listener/smtp-reply.ts";
import { storable } from "#inbound/parsing/storable-text.ts";
import { reportMailLimit } from "#mail/bounces/report-mail.ts";
import { attachmentMailLimit } from "#mail/reports/report-documents.ts";
import type { Clock } from "#platform/clock.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { newId } from "#platform/ids.ts";
import { limits } from "#platform/limits/limits.ts";
import { limitSentence } from "#platform/limits/refusal.ts";
import {
  type InboundAddress,
  type InboundAddressDeps,
  plainAddress,
  resolveInboundAddress,
} from "./inbound-address.ts";
import { findReachedQuota, noteOpenOctets, takeOpenMails } from "./open-address-quotas.ts";
import { findLastMove } from "./sent-message-store.ts";
import { type Backlog, insertInboundMails, type MailClass, mailClassOf } from "./store.ts";

const MOST_RECIPIENTS = 10;
/** Refused recipients after which a connection is ended: its client is guessing. */
const MOST_REFUSED = 50;
/** A message with more Received fields is in a mail loop; Postfix has the same limit (hopcount_limit). */
const MOST_RECEIVED = 50;
const BACKLOG: Backlog = {
  signed: { waiting: limits.waitingSignedMails.most, bytes: limits.waitingSignedBytes.most },
  open: { waiting: limits.waitingOpenMails.most, bytes: limits.waitingOpenBytes.most },
  network: { waiting: limits.waitingMailsPerNetwork.most, bytes: limits.waitingBytesPerNetwork.most },
  address: limits.waitingMailsPerAddress.most,
};
const BACKLOG_SENTENCES = {
  network: "Too much mail from your network is waiting to be processed.",
  address: "Too much mail to this address is waiting to be processed.",
};
/** Fits a report that returns the largest message we send. */
export const LARGEST_MAIL = 40 * 1024 * 1024;
/** Octets of a mail that are parsed, and therefore stored. */
const readOctets = (kind: InboundAddress["kind"]) =>
  kind === "report" ? attachmentMailLimit : reportMailLimit;

export interface ReturnsDeps extends InboundAddressDeps {
  readonly clock: Clock;
  readonly log: NetworkLog;
  /** Called after mail of this class was stored. */
  readonly onStored: (mailClass: MailClass) => void;
}

export function createReturns(deps: ReturnsDeps): (network: string) => Conversation {
  const { db, clock, log } = deps;
  return (network) => {
    /** By address, so that two spellings of one address are one recipient. */
    let recipients = new Map<string, { readonly address: string; readonly kind: InboundAddress["kind"] }>();
    let refused = 0;
    const refuse = (enhanced: string, text: string) => {
      refused += 1;
      return refused > MOST_REFUSED
        ? new SmtpReply(421, "4.7.0", "Too many unknown recipients")
        : new SmtpReply(550, enhanced, text);
    };
    const deferred = (sentence: string) => {
      log.note(network, `inbound mail deferred: ${sentence}`);
      return new SmtpReply(451, "4.7.1", `${sentence} Retry later.`);
    };
    const kinds = () => [...recipients.values()].map(({ kind }) => kind);
    const isOpen = () => kinds().some((kind) => mailClassOf(kind) === "open");
    const take = async (
      { message, octets }: ReceivedMessage,
      mailFrom: SMTPServerEnvelope["mailFrom"],
    ): Promise<string> => {
      if (countReceived(message) > MOST_RECEIVED) {
        throw new SmtpReply(
          554,
          "5.4.6",
          `Mail loop: the message has more than ${MOST_RECEIVED} Received fields`,
        );
      }
      const mails = [...recipients.values()].map(({ address, kind }) => ({
        id: newId(),
        kind,
        mailFrom: mailFrom ? storable(mailFrom.address) : "",
        rcptTo: storable(address),
        raw: message.subarray(0, readOctets(kind)),
        bytes: octets,
      }));
      const open = mails.filter(({ kind }) => mailClassOf(kind) === "open");
      const reached = await takeOpenMails(db, { network, mails: open.length }, clock.now());
      if (reached !== null) throw deferred(limitSentence(reached));
      const refusal = await insertInboundMails(db, { network, mails }, BACKLOG, clock.now());
      if (refusal === "class") {
        log.note(network, "inbound mail deferred: too much mail is waiting to be processed");
        throw new SmtpReply(452, "4.3.1", "Too much mail is waiting to be processed: retry later");
      }
      if (refusal !== null) throw deferred(BACKLOG_SENTENCES[refusal]);
      for (const mailClass of new Set(mails.map(({ kind }) => mailClassOf(kind)))) deps.onStored(mailClass);
      return "2.0.0 Accepted";
    };
    return {
      async mail() {
        recipients = new Map();
      },
      async recipient({ address: given }, { mailFrom }) {
        const address = plainAddress(given);
        const returned = await resolveInboundAddress(deps, address);
        if (returned === "foreign") throw refuse("5.7.1", "Relaying denied");
        if (
          returned === null ||
          (returned.kind === "return_path" && (await isTooOld(db, returned.messageId, clock.now())))
        ) {
          throw refuse("5.1.1", "No such mailbox");
        }
        const { kind } = returned;
        const isSecondReport = kind === "report" && [...recipients.values()].some((one) => one.kind === kind);
        if (recipients.size >= MOST_RECIPIENTS || isSecondReport) {
          throw new SmtpReply(452, "4.5.3", "Too many recipients: send the others a separate copy");
        }
        if (mailClassOf(kind) === "open") {
          const named = mailFrom === false || mailFrom.args === false ? {} : mailFrom.args;
          const size = Number(Reflect.get(named, "SIZE") ?? 0);
          if (size > limits.openMailBytes.most) {
            throw new SmtpReply(
              552,
              "5.3.4",
              `Mail to this address has at most ${limits.openMailBytes.most} octets`,
            );
          }
          const reached = await findReachedQuota(db, network, clock.now());
          if (reached !== null) throw deferred(limitSentence(reached));
        }
        // The token of an unsubscribe address is case-sensitive.
        recipients.set(kind === "unsubscribe" ? address : address.toLowerCase(), { address, kind });
      },
      message: (received, { mailFrom }) => answerSoon(take(received, mailFrom)),
      sizeLimit() {
        // No more of the mail is parsed.
        const kept = Math.max(0, ...kinds().map(readOctets));
        return { most: isOpen() ? limits.openMailBytes.most : LARGEST_MAIL, kept };
      },
      async onOctets(octets) {
        if (isOpen()) await noteOpenOctets(db, { network, octets }, clock.now());
      },
    };
  };
}

function countReceived(message: Buffer): number {
  const header =
    message
      .subarray(0, reportMailLimit)
      .toString("latin1")
      .split(/\r?\n\r?\n/, 1)[0] ?? "";
  return header.match(/^received[ \t]*:/gim)?.length ?? 0;
}

const MOST_AGE_MS = 30 * 86_400_000;

/**
 * Whether the return path of a message no longer accepts reports: thirty days after the last event of the message, which may
 * have waited in a paused campaign. A recent message is not looked up.
 */
export async function isTooOld(db: Queryable, messageId: string, now: Date): Promise<boolean> {
  const isPast = (time: Date) => now.getTime() - time.getTime() > MOST_AGE_MS;
  if (!isPast(acceptedAt(messageId))) return false;
  const moved = await findLastMove(db, messageId);
  return moved === undefined || isPast(moved);
}

/** UUIDv7 ids begin with the time of acceptance (RFC 9562 section 5.7). */
function acceptedAt(messageId: string): Date {
  return new Date(Number.parseInt(messageId.replaceAll("-", "").slice(0, 12), 16));
}
