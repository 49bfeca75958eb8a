/**
 * The inbound port. RCPT decides what a mail is: returned mail (returns/), or mail to inbound routes (received/); its first
 * recipient decides for the others. Nothing is relayed or answered with a mail.
 */
import type { SMTPServerAddress, SMTPServerEnvelope } from "smtp-server";
import { parseAddress } from "#mail/address.ts";
import { endOfHeader } from "#mail/message/header-end.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { Conversation } from "./listener/conversation-interface.ts";
import type { MailTransaction } from "./listener/mail-transaction.ts";
import type { ReceivedMessage } from "./listener/message-data.ts";
import { SmtpReply } from "./listener/smtp-reply.ts";
import { RouteTransaction, type RouteTransactionDeps } from "./received/route-transaction.ts";
import {
  type InboundAddress,
  type InboundAddressDeps,
  plainAddress,
  resolveInboundAddress,
} from "./returns/resolve-inbound-address.ts";
import { type ReturnsDeps, ReturnsTransaction } from "./returns/returns-transaction.ts";
import { comparableAddress, matchesLocalPart } from "./routes/address-pattern.ts";
import { listRoutesAtDomain, type RouteAtDomain } from "./routes/store.ts";

/** Refused recipients after which a connection is ended, because its client probably guesses addresses. */
const MOST_REFUSED = 50;
/** A message with more Received fields is in a mail loop; Postfix has the same limit (hopcount_limit). */
const MOST_RECEIVED = 50;
/** Octets in which Received fields are counted. */
const MOST_HEADER_BYTES = 1024 * 1024;

export interface InboundConversationDeps {
  readonly addresses: InboundAddressDeps;
  readonly returns: ReturnsDeps;
  readonly routes: RouteTransactionDeps;
}

/** One client of the port, over any number of mails. */
export class InboundConversation implements Conversation {
  readonly #deps: InboundConversationDeps;
  readonly #network: string;
  readonly #ip: string;
  #helo = "";
  /** Null before the first accepted recipient of a mail. */
  #current: ReturnsTransaction | RouteTransaction | null = null;
  #refused = 0;

  constructor(deps: InboundConversationDeps, network: string, ip: string) {
    this.#deps = deps;
    this.#network = network;
    // An IPv4 client of a port that listens on IPv6.
    this.#ip = ip.replace(/^::ffff:/i, "");
  }

  async mail(_from: SMTPServerAddress, _envelope: SMTPServerEnvelope, helo: string): Promise<void> {
    this.#current = null;
    this.#helo = helo;
  }

  async recipient(
    { address: given }: SMTPServerAddress,
    { mailFrom }: Pick<SMTPServerEnvelope, "mailFrom">,
  ): Promise<void> {
    try {
      await this.#add(plainAddress(given), mailFrom);
    } catch (fault) {
      throw this.#counted(fault);
    }
  }

  async message(received: ReceivedMessage, { mailFrom }: Pick<SMTPServerEnvelope, "mailFrom">) {
    if (countReceived(received.message) > MOST_RECEIVED) {
      const text = `Mail loop: the message has more than ${MOST_RECEIVED} Received fields`;
      throw new SmtpReply(554, "5.4.6", text);
    }
    return this.#transaction().message(received, mailFrom);
  }

  sizeLimit() {
    return this.#transaction().sizeLimit();
  }

  async onOctets(octets: number): Promise<void> {
    await this.#transaction().onOctets(octets);
  }

  async #add(address: string, mailFrom: SMTPServerEnvelope["mailFrom"]): Promise<void> {
    const { addresses } = this.#deps;
    const inbound = await resolveInboundAddress(addresses, address);
    if (inbound === null) throw noMailbox();
    if (inbound !== "foreign") return this.#addReturned(address, inbound, mailFrom);
    const route = await findRoute(addresses.db, address);
    if (route === "foreign") throw new SmtpReply(550, "5.7.1", "Relaying denied");
    if (route === null) throw noMailbox();
    // Its domain is not in the address, because only a bare name and BOUNCE_DOMAIN have the operator's mailboxes.
    if (route === "postmaster") return this.#addReturned(route, { kind: "operator" }, mailFrom);
    if (route.is_suspended) throw new SmtpReply(450, "4.2.1", "The mailbox is switched off: retry later");
    await this.#addRouted(address, route, mailFrom);
  }

  async #addReturned(
    address: string,
    inbound: InboundAddress,
    mailFrom: SMTPServerEnvelope["mailFrom"],
  ): Promise<void> {
    const transaction = this.#current ?? new ReturnsTransaction(this.#deps.returns, this.#network);
    if (!(transaction instanceof ReturnsTransaction)) throw otherKind();
    await transaction.recipient(address, inbound, mailFrom);
    this.#current = transaction;
  }

  async #addRouted(
    address: string,
    route: RouteAtDomain,
    mailFrom: SMTPServerEnvelope["mailFrom"],
  ): Promise<void> {
    const from = { network: this.#network, ip: this.#ip, helo: this.#helo };
    const transaction = this.#current ?? new RouteTransaction(this.#deps.routes, from, route);
    if (!(transaction instanceof RouteTransaction)) throw otherKind();
    await transaction.recipient(address, route, mailFrom);
    this.#current = transaction;
  }

  /** DATA without an accepted recipient is refused by the protocol before it gets here. */
  #transaction(): MailTransaction {
    if (this.#current === null) throw new SmtpReply(503, "5.5.1", "There is no recipient");
    return this.#current;
  }

  #counted(fault: unknown): unknown {
    if (!(fault instanceof SmtpReply) || fault.responseCode !== 550) return fault;
    this.#refused += 1;
    return this.#refused > MOST_REFUSED ? new SmtpReply(421, "4.7.0", "Too many unknown recipients") : fault;
  }
}

const noMailbox = () => new SmtpReply(550, "5.1.1", "No such mailbox");

const otherKind = () => new SmtpReply(452, "4.5.3", "Too many recipients: send the others a separate copy");

/**
 * The route of a recipient. "foreign": no workspace has an active route at the domain. "postmaster": its postmaster, for whom
 * no route is (RFC 5321 section 4.5.1). Null: no other route matches.
 */
async function findRoute(
  db: Queryable,
  address: string,
): Promise<RouteAtDomain | "foreign" | "postmaster" | null> {
  const parsed = parseAddress(address);
  if (!parsed.ok) return "foreign";
  const { local_part: local, domain } = comparableAddress(parsed.address);
  const routes = await listRoutesAtDomain(db, domain);
  if (routes.length === 0) return "foreign";
  const route = routes.find(({ local_part }) => matchesLocalPart(local_part, local));
  return route ?? (local === "postmaster" ? "postmaster" : null);
}

function countReceived(message: Buffer): number {
  const header = message.toString("latin1", 0, endOfHeader(message, MOST_HEADER_BYTES));
  return header.match(/^received[ \t]*:/gim)?.length ?? 0;
}
