/** One returned mail: a bounce, a complaint, a report or an unsubscribe request. A mail that got 250 is in the database. */
import type { SMTPServerEnvelope } from "smtp-server";
import {
  declaredSize,
  type MailTransaction,
  MOST_ENVELOPE_RECIPIENTS,
} from "#inbound/listener/mail-transaction.ts";
import type { ReceivedMessage } from "#inbound/listener/message-data.ts";
import type { NetworkLog } from "#inbound/listener/rate-limited-log.ts";
import { answerSoon, SmtpReply } from "#inbound/listener/smtp-reply.ts";
import { storable } from "#inbound/parsing/storable-text.ts";
import { lenientMimeLimit } from "#mail/bounces/lenient-mime.ts";
import type { NamedMessage } from "#mail/bounces/verp.ts";
import { attachmentMailLimit } from "#mail/reports/report-documents.ts";
import type { Clock } from "#platform/clock.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { newId } from "#platform/ids.ts";
import { limitSentence } from "#platform/limits/limit-errors.ts";
import { limits } from "#platform/limits/limits.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { findReachedQuota, noteOpenOctets, takeOpenMails } from "./open-address-quotas.ts";
import type { InboundAddress } from "./resolve-inbound-address.ts";
import { findLastMove } from "./sent-message-store.ts";
import { type Backlog, insertInboundMails, type MailClass, mailClassOf } from "./store.ts";

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
  kind === "report" ? attachmentMailLimit : lenientMimeLimit;

export interface ReturnsDeps {
  readonly db: Queryable;
  readonly clock: Clock;
  readonly log: NetworkLog;
  /** Called after mail of this class was stored. */
  readonly onStored: (mailClass: MailClass) => void;
}

interface Recipient {
  readonly address: string;
  readonly kind: InboundAddress["kind"];
}

export class ReturnsTransaction implements MailTransaction {
  readonly #deps: ReturnsDeps;
  readonly #network: string;
  /** By address, so that two spellings of one address are one recipient. */
  readonly #recipients = new Map<string, Recipient>();

  constructor(deps: ReturnsDeps, network: string) {
    this.#deps = deps;
    this.#network = network;
  }

  /** @throws SmtpReply */
  async recipient(
    address: string,
    inbound: InboundAddress,
    mailFrom: SMTPServerEnvelope["mailFrom"],
  ): Promise<void> {
    const { db, clock } = this.#deps;
    if (inbound.kind === "return_path" && (await isTooOld(db, inbound.message, clock.now()))) {
      throw new SmtpReply(550, "5.1.1", "No such mailbox");
    }
    const { kind } = inbound;
    const isSecondReport = kind === "report" && this.#kinds().includes(kind);
    if (this.#recipients.size >= MOST_ENVELOPE_RECIPIENTS || isSecondReport) {
      throw new SmtpReply(452, "4.5.3", "Too many recipients: send the others a separate copy");
    }
    if (mailClassOf(kind) === "open") await this.#requireOpenQuota(mailFrom);
    // The token of an unsubscribe address is case-sensitive.
    this.#recipients.set(kind === "unsubscribe" ? address : address.toLowerCase(), { address, kind });
  }

  message(received: ReceivedMessage, mailFrom: SMTPServerEnvelope["mailFrom"]): Promise<string> {
    return answerSoon(this.#store(received, mailFrom));
  }

  sizeLimit() {
    // No more of the mail is parsed.
    const kept = Math.max(0, ...this.#kinds().map(readOctets));
    return { most: this.#isOpen() ? limits.openMailBytes.most : LARGEST_MAIL, kept };
  }

  async onOctets(octets: number): Promise<void> {
    const { db, clock } = this.#deps;
    if (this.#isOpen()) await noteOpenOctets(db, { network: this.#network, octets }, clock.now());
  }

  async #requireOpenQuota(mailFrom: SMTPServerEnvelope["mailFrom"]): Promise<void> {
    const { db, clock } = this.#deps;
    const { most } = limits.openMailBytes;
    if (declaredSize(mailFrom) > most) {
      throw new SmtpReply(552, "5.3.4", `Mail to this address has at most ${most} octets`);
    }
    const reached = await findReachedQuota(db, this.#network, clock.now());
    if (reached !== null) throw this.#defer(limitSentence(reached));
  }

  async #store(
    { message, octets }: ReceivedMessage,
    mailFrom: SMTPServerEnvelope["mailFrom"],
  ): Promise<string> {
    const { db, clock, log, onStored } = this.#deps;
    const network = this.#network;
    const mails = [...this.#recipients.values()].map(({ address, kind }) => ({
      id: newId(),
      kind,
      mailFrom: mailFrom ? storable(mailFrom.address) : "",
      rcptTo: storable(address),
      raw: message.subarray(0, readOctets(kind)),
      bytes: octets,
    }));
    const open = mails.filter(({ kind }) => mailClassOf(kind) === "open");
    const reached = await takeOpenMails(db, { network, mails: open.length }, clock.now());
    if (reached !== null) throw this.#defer(limitSentence(reached));
    const refusal = await insertInboundMails(db, { network, mails }, BACKLOG, clock.now());
    if (refusal === "class") {
      log.note(network, "inbound mail deferred: too much mail is waiting to be processed");
      throw new SmtpReply(452, "4.3.1", "Too much mail is waiting to be processed: retry later");
    }
    if (refusal !== null) throw this.#defer(BACKLOG_SENTENCES[refusal]);
    for (const mailClass of new Set(mails.map(({ kind }) => mailClassOf(kind)))) onStored(mailClass);
    return "2.0.0 Accepted";
  }

  #defer(sentence: string): SmtpReply {
    this.#deps.log.note(this.#network, `inbound mail deferred: ${sentence}`);
    return new SmtpReply(451, "4.7.1", `${sentence} Retry later.`);
  }

  #kinds(): InboundAddress["kind"][] {
    return [...this.#recipients.values()].map(({ kind }) => kind);
  }

  #isOpen(): boolean {
    return this.#kinds().some((kind) => mailClassOf(kind) === "open");
  }
}

const MOST_AGE_MS = 30 * DAY_MS;

/**
 * Whether the return path of a message no longer accepts reports: thirty days after the last event of the message, which may
 * have waited in a paused campaign. A recent message is not looked up.
 */
async function isTooOld(db: Queryable, message: NamedMessage, now: Date): Promise<boolean> {
  const isPast = (time: Date) => now.getTime() - time.getTime() > MOST_AGE_MS;
  if (!isPast(acceptedAt(message.messageId))) return false;
  const moved = await findLastMove(db, message);
  return moved === undefined || isPast(moved);
}

/** UUIDv7 ids begin with the time of acceptance (RFC 9562 section 5.7). */
function acceptedAt(messageId: string): Date {
  return new Date(Number.parseInt(messageId.replaceAll("-", "").slice(0, 12), 16));
}
