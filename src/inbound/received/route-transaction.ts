/**
 * One mail to inbound routes: the recipients that were accepted for it, and its storage. All its recipients are of one
 * workspace and have one spam rule, so that the reply to the mail holds for each of them.
 */
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
import type { RouteAtDomain } from "#inbound/routes/store.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import { newId } from "#platform/ids.ts";
import { limitSentence } from "#platform/limits/limit-errors.ts";
import { limits } from "#platform/limits/limits.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import { withinBytes } from "#workspace/billing/storage-limit.ts";
import {
  addReceivedStorage,
  insertDigests,
  insertReceivedEmails,
  type NewReceivedEmail,
} from "./accept-store.ts";
import { digestOfMail, hashContent } from "./mail-digest.ts";
import type { ReceivingMemory } from "./receiving-memory.ts";
import { findReachedReceivingQuota, noteReceivedOctets, takeReceivedMail } from "./receiving-quotas.ts";
import type { ScanSpam } from "./scan-spam.ts";

export interface RouteTransactionDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly plans: Plans;
  readonly log: NetworkLog;
  readonly memory: ReceivingMemory;
  readonly scan: ScanSpam;
  /** Called after mail was stored. */
  readonly onReceived: () => void;
}

/** The client of the transaction. */
export interface ReceivedFrom {
  readonly network: string;
  readonly ip: string;
  readonly helo: string;
}

interface RouteRecipient {
  readonly address: string;
  readonly route: RouteAtDomain;
}

export class RouteTransaction implements MailTransaction {
  readonly #deps: RouteTransactionDeps;
  readonly #from: ReceivedFrom;
  /** The route of the first recipient. */
  readonly #first: RouteAtDomain;
  /** By address in lower case. */
  readonly #recipients = new Map<string, RouteRecipient>();

  constructor(deps: RouteTransactionDeps, from: ReceivedFrom, first: RouteAtDomain) {
    this.#deps = deps;
    this.#from = from;
    this.#first = first;
  }

  /** @throws SmtpReply */
  async recipient(
    address: string,
    route: RouteAtDomain,
    mailFrom: SMTPServerEnvelope["mailFrom"],
  ): Promise<void> {
    const { db, clock } = this.#deps;
    const first = this.#first;
    const isAlike =
      route.workspace_id === first.workspace_id &&
      route.spam_action === first.spam_action &&
      route.spam_threshold === first.spam_threshold;
    if (!isAlike || this.#recipients.size >= MOST_ENVELOPE_RECIPIENTS) {
      throw new SmtpReply(452, "4.5.3", "Too many recipients: send the others a separate copy");
    }
    if (declaredSize(mailFrom) > route.max_bytes) {
      throw new SmtpReply(552, "5.3.4", `Mail to this address has at most ${route.max_bytes} octets`);
    }
    const copies = this.#recipients.has(address.toLowerCase())
      ? this.#recipients.size
      : this.#recipients.size + 1;
    if (declaredSize(mailFrom) * copies > limits.receivedCopiesBytes.most) {
      throw new SmtpReply(452, "4.5.3", "Too many recipients for its size: send the others a separate copy");
    }
    if (this.#recipients.size === 0) {
      const reached = await findReachedReceivingQuota(db, this.#holders(), clock.now());
      if (reached !== null) throw this.#defer(limitSentence(reached));
    }
    this.#recipients.set(address.toLowerCase(), { address, route });
  }

  sizeLimit() {
    const copies = Math.floor(limits.receivedCopiesBytes.most / this.#recipients.size);
    const most = Math.min(copies, ...[...this.#recipients.values()].map(({ route }) => route.max_bytes));
    return { most, memory: this.#deps.memory.of(this.#first.workspace_id) };
  }

  async onOctets(octets: number): Promise<void> {
    const { db, clock } = this.#deps;
    await noteReceivedOctets(db, this.#holders(), octets * this.#recipients.size, clock.now());
  }

  async message(
    { message: raw }: ReceivedMessage,
    mailFrom: SMTPServerEnvelope["mailFrom"],
  ): Promise<string> {
    const { db, clock, scan, onReceived } = this.#deps;
    const { workspace_id: workspaceId, spam_threshold, spam_action } = this.#first;
    const reached = await answerSoon(
      takeReceivedMail(db, this.#holders(), this.#recipients.size, clock.now()),
    );
    if (reached !== null) throw this.#defer(limitSentence(reached));
    const scanned = await scan(workspaceId, raw, this.#from);
    const spam = scanned && {
      score: scanned.score,
      isSpam: scanned.score >= (spam_threshold ?? scanned.threshold),
    };
    if (spam?.isSpam && spam_action === "reject") {
      throw new SmtpReply(550, "5.7.1", "The message was refused as spam");
    }
    await answerSoon(this.#store(raw, mailFrom ? envelopeText(mailFrom.address) : "", spam));
    onReceived();
    return "2.0.0 Accepted";
  }

  /** Stores the mail for the recipients that do not have it yet. */
  async #store(
    raw: Buffer,
    mailFrom: string,
    spam: { readonly score: number; readonly isSpam: boolean } | null,
  ): Promise<void> {
    const { db, clock, plans } = this.#deps;
    const { network, ip: remoteIp, helo } = this.#from;
    const workspaceId = this.#first.workspace_id;
    const now = clock.now();
    const content = await hashContent(raw);
    const mails = [...this.#recipients.values()].map(({ address, route }): Mail => {
      const rcptTo = storable(address);
      const digest = digestOfMail(content, { mailFrom, rcptTo });
      const { id: routeId, keep, webhook } = route;
      return { id: newId(), routeId, keep, webhook, rcptTo, digest };
    });
    const envelope = { workspaceId, mailFrom, remoteIp, helo: envelopeText(helo), network, raw, spam, now };
    const storage = { plans, clock };
    await db.transaction(async (tx) => {
      const isNew = await insertDigests(
        tx,
        workspaceId,
        mails.map(({ digest }) => digest),
        now,
      );
      const news = mails.filter(({ digest }) => isNew.has(digest.toString("hex")));
      if (news.length === 0) return;
      const refusal = await withinBytes(storage, tx, workspaceId, async () => {
        const reached = await insertReceivedEmails(tx, envelope, news);
        if (reached === null) await addReceivedStorage(tx, workspaceId, raw.length * news.length);
        return reached;
      }).catch((fault: unknown) => {
        throw fault instanceof ApiError && fault.code === "PLAN_LIMIT_REACHED" ? this.#full() : fault;
      });
      if (refusal === "waitingReceivedMails") {
        throw new SmtpReply(452, "4.3.1", "Too much mail is waiting to be processed: retry later");
      }
      if (refusal !== null) throw this.#defer(limitSentence(limits[refusal]));
    });
  }

  #full(): SmtpReply {
    this.#deps.log.note(this.#from.network, "inbound mail deferred: the storage of the workspace is full");
    return new SmtpReply(452, "4.2.2", "The mailbox is full: retry later");
  }

  #defer(sentence: string): SmtpReply {
    this.#deps.log.note(this.#from.network, `inbound mail deferred: ${sentence}`);
    return new SmtpReply(451, "4.7.1", `${sentence} Retry later.`);
  }

  #holders() {
    return { network: this.#from.network, workspaceId: this.#first.workspace_id };
  }
}

/** Longer than any valid address or name, and short enough for an index. */
const LONGEST_ENVELOPE_TEXT = 500;

const envelopeText = (text: string) => storable(text.slice(0, LONGEST_ENVELOPE_TEXT));

type Mail = NewReceivedEmail & { readonly digest: Buffer };
