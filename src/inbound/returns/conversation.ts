/**
 * The port for returned mail: bounces, complaints, reports and unsubscribe requests. RCPT resolves the address; a mail that
 * got 250 is in the database. Nothing is relayed or answered with a mail.
 */

import type { SMTPServerAddress, SMTPServerEnvelope } from "smtp-server";
import type { Conversation } from "#inbound/listener/conversation-interface.ts";
import type { ReceivedMessage } from "#inbound/listener/message-data.ts";
import type { NetworkLog } from "#inbound/listener/rate-limited-log.ts";
import { answerSoon, SmtpReply } from "#inbound/listener/smtp-reply.ts";
import { storable } from "#inbound/parsing/storable-text.ts";
import { lenientMimeLimit } from "#mail/bounces/lenient-mime.ts";
import { attachmentMailLimit } from "#mail/reports/report-documents.ts";
import type { Clock } from "#platform/clock.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { newId } from "#platform/ids.ts";
import { limitSentence } from "#platform/limits/limit-errors.ts";
import { limits } from "#platform/limits/limits.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { findReachedQuota, noteOpenOctets, takeOpenMails } from "./open-address-quotas.ts";
import {
  type InboundAddress,
  type InboundAddressDeps,
  plainAddress,
  resolveInboundAddress,
} from "./resolve-inbound-address.ts";
import { findLastMove } from "./sent-message-store.ts";
import { type Backlog, insertInboundMails, type MailClass, mailClassOf } from "./store.ts";

const MOST_RECIPIENTS = 10;
/** Refused recipients after which a connection is ended, because its client probably guesses addresses. */
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
  kind === "report" ? attachmentMailLimit : lenientMimeLimit;

export interface ReturnsDeps extends InboundAddressDeps {
  readonly clock: Clock;
  readonly log: NetworkLog;
  /** Called after mail of this class was stored. */
  readonly onStored: (mailClass: MailClass) => void;
}

interface Recipient {
  readonly address: string;
  readonly kind: InboundAddress["kind"];
}

/** One client of the port, over any number of mails. */
export class ReturnsConversation implements Conversation {
  readonly #deps: ReturnsDeps;
  readonly #network: string;
  /** The recipients of the current mail, by address, so that two spellings of one address are one recipient. */
  #recipients = new Map<string, Recipient>();
  #refused = 0;

  constructor(deps: ReturnsDeps, network: string) {
    this.#deps = deps;
    this.#network = network;
  }

  async mail(): Promise<void> {
    this.#recipients = new Map();
  }

  async recipient(
    { address: given }: SMTPServerAddress,
    { mailFrom }: Pick<SMTPServerEnvelope, "mailFrom">,
  ): Promise<void> {
    const { db, clock } = this.#deps;
    const address = plainAddress(given);
    const inbound = await resolveInboundAddress(this.#deps, address);
    if (inbound === "foreign") throw this.#refuse("5.7.1", "Relaying denied");
    if (
      inbound === null ||
      (inbound.kind === "return_path" && (await isTooOld(db, inbound.messageId, clock.now())))
    ) {
      throw this.#refuse("5.1.1", "No such mailbox");
    }
    const { kind } = inbound;
    const isSecondReport = kind === "report" && this.#kinds().includes(kind);
    if (this.#recipients.size >= MOST_RECIPIENTS || isSecondReport) {
      throw new SmtpReply(452, "4.5.3", "Too many recipients: send the others a separate copy");
    }
    if (mailClassOf(kind) === "open") await this.#requireOpenQuota(mailFrom);
    // The token of an unsubscribe address is case-sensitive.
    this.#recipients.set(kind === "unsubscribe" ? address : address.toLowerCase(), { address, kind });
  }

  message(received: ReceivedMessage, { mailFrom }: Pick<SMTPServerEnvelope, "mailFrom">): Promise<string> {
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
    const parameters = mailFrom === false || mailFrom.args === false ? {} : mailFrom.args;
    const size = Number(Reflect.get(parameters, "SIZE") ?? 0);
    const { most } = limits.openMailBytes;
    if (size > most) {
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
    if (countReceived(message) > MOST_RECEIVED) {
      const text = `Mail loop: the message has more than ${MOST_RECEIVED} Received fields`;
      throw new SmtpReply(554, "5.4.6", text);
    }
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

  #refuse(enhanced: string, text: string): SmtpReply {
    this.#refused += 1;
    return this.#refused > MOST_REFUSED
      ? new SmtpReply(421, "4.7.0", "Too many unknown recipients")
      : new SmtpReply(550, enhanced, text);
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

function countReceived(message: Buffer): number {
  const header =
    message
      .subarray(0, lenientMimeLimit)
      .toString("latin1")
      .split(/\r?\n\r?\n/, 1)[0] ?? "";
  return header.match(/^received[ \t]*:/gim)?.length ?? 0;
}

const MOST_AGE_MS = 30 * DAY_MS;

/**
 * Whether the return path of a message no longer accepts reports: thirty days after the last event of the message, which may
 * have waited in a paused campaign. A recent message is not looked up.
 */
async function isTooOld(db: Queryable, messageId: string, now: Date): Promise<boolean> {
  const isPast = (time: Date) => now.getTime() - time.getTime() > MOST_AGE_MS;
  if (!isPast(acceptedAt(messageId))) return false;
  const moved = await findLastMove(db, messageId);
  return moved === undefined || isPast(moved);
}

/** UUIDv7 ids begin with the time of acceptance (RFC 9562 section 5.7). */
function acceptedAt(messageId: string): Date {
  return new Date(Number.parseInt(messageId.replaceAll("-", "").slice(0, 12), 16));
}
