/**
 * Processes mail to inbound routes, on any number of machines: it is parsed in threads, authenticated, matched with the message
 * that it answers, and announced. Workspaces take turns. What was parsed, the event of the answered message and the event for
 * webhooks are committed together under the number of the lease.
 */
import { MailWorkers } from "#inbound/parsing/mail-workers.ts";
import { type MailParser, PARSING_THREADS } from "#inbound/parsing/parse-mail-in-threads.ts";
import { keyNamesOf } from "#inbound/parsing/verify-signatures.ts";
import { signedMessage } from "#inbound/returns/resolve-inbound-address.ts";
import { recordReplied } from "#messages/record-engagement.ts";
import type { Clock } from "#platform/clock.ts";
import { createLimiter } from "#platform/concurrency.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import type { Log } from "#platform/log/log.ts";
import type { PurposeKeys } from "#platform/secrets/secrets.ts";
import { authenticate, findKeyRecords, LOOK_UP_MS, type MailResolver } from "./authenticate.ts";
import {
  findStoredReceived,
  keepReceived,
  type LeasedReceived,
  leaseReceived,
  type ReadReceived,
  releaseReceived,
  type StoredReceived,
  settleReceived,
} from "./process-store.ts";
import { removeReceivedEmail } from "./remove-store.ts";
import { findRepliedMessage, isOwnMessage } from "./replied-message-store.ts";

/** A received mail that is complete. `read` is null if it is unreadable. */
export interface ReceivedNews {
  readonly workspaceId: WorkspaceId;
  readonly stored: Omit<StoredReceived, "raw">;
  readonly read: ReadReceived | null;
}

/**
 * Called in the transaction that completes a received mail of a route with `webhook`.
 * @returns whether a webhook is told of it
 */
export type OnReceived = (tx: Queryable, news: ReceivedNews) => Promise<boolean>;

export interface ReceivedDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly parser: MailParser;
  readonly resolver: MailResolver;
  /** The name of this server. */
  readonly hostname: string;
  readonly returnPathKeys: PurposeKeys;
  readonly onReceived: OnReceived;
}

/** Limits of the parser. */
export const RECEIVED_PARSING = { deadlineMs: 30_000, heapMb: 512 };
/** Most of the time is spent waiting for DNS. */
const WORKERS = 8;
/** Mails of one workspace that are processed at a time: slow ones must not take all workers. */
const MOST_OF_WORKSPACE = 4;
/** For the statements. */
const SPARE_MS = 15_000;
/**
 * Longer than the three kinds of look-ups and parsing may take, also after the mails of all other workers. Another process
 * takes over the mail of a killed one after this.
 */
const LEASE_MS = 3 * LOOK_UP_MS + (WORKERS / PARSING_THREADS) * RECEIVED_PARSING.deadlineMs + SPARE_MS;
const MOST_ATTEMPTS = 8;
/** Attempts in which parsing may take too long: the machine may have been busy. More would keep a thread from other mail. */
const MOST_SLOW_ATTEMPTS = 2;
/** Multiplied by the number of attempts. */
const RETRY_MS = 15_000;

/** Starts the workers of this process. */
export function startReceiving(deps: ReceivedDeps): MailWorkers<LeasedReceived> {
  const leases = new Leases(deps);
  return new MailWorkers<LeasedReceived>({
    workers: WORKERS,
    leaseNext: () => leases.next(),
    async processOne(lease) {
      await processOne(deps, lease);
      leases.end(lease);
    },
    onLeaseFault: (err) => deps.log.error({ err }, "received mail could not be leased"),
  });
}

/** The leases of this process. */
class Leases {
  readonly #deps: ReceivedDeps;
  /** Mails under way. */
  readonly #held = new Map<WorkspaceId, number>();
  /** One at a time, so that each counts those before it. */
  readonly #inTurn = createLimiter(1);

  constructor(deps: ReceivedDeps) {
    this.#deps = deps;
  }

  next(): Promise<LeasedReceived | undefined> {
    const { db, clock } = this.#deps;
    return this.#inTurn(async () => {
      const now = clock.now();
      const full = [...this.#held].filter(([, mails]) => mails >= MOST_OF_WORKSPACE);
      const except = full.map(([workspaceId]) => workspaceId);
      const lease = await leaseReceived(db, { now, until: new Date(now.getTime() + LEASE_MS), except });
      if (lease !== undefined) this.#add(lease.workspace_id, 1);
      return lease;
    });
  }

  end({ workspace_id }: LeasedReceived): void {
    this.#add(workspace_id, -1);
  }

  #add(workspaceId: WorkspaceId, change: number): void {
    const mails = (this.#held.get(workspaceId) ?? 0) + change;
    if (mails > 0) this.#held.set(workspaceId, mails);
    else this.#held.delete(workspaceId);
  }
}

async function processOne(deps: ReceivedDeps, lease: LeasedReceived): Promise<void> {
  const { db, clock, log } = deps;
  try {
    const stored = await findStoredReceived(db, lease);
    if (stored === undefined) return;
    const isHopeless = lease.lease_number > MOST_ATTEMPTS;
    const read = isHopeless ? null : await readMail(deps, lease, stored);
    await db.transaction((tx) => complete(deps, tx, lease, stored, read), { mayRepeat: true });
  } catch (err) {
    log.error({ err, mail: lease.id }, "received mail could not be processed, retrying later");
    const retryAt = new Date(clock.now().getTime() + RETRY_MS * lease.lease_number);
    await releaseReceived(db, lease, retryAt).catch(() => {
      // The mail is due again when its lease expires.
    });
  }
}

/** Null: the mail takes too much memory to parse, or again too much time. @throws Error when it is the first time */
async function readMail(
  { db, parser, resolver, hostname, returnPathKeys }: ReceivedDeps,
  { workspace_id: workspaceId, lease_number }: LeasedReceived,
  stored: StoredReceived,
): Promise<ReadReceived | null> {
  const { raw, mail_from: mailFrom } = stored;
  const keys = await findKeyRecords(resolver, keyNamesOf(raw));
  const parsed = await parser.read("received", raw, { mailFrom, keys });
  if (!parsed.ok) {
    if (parsed.reason === "too_slow" && lease_number < MOST_SLOW_ATTEMPTS)
      throw new Error("parsing takes too long");
    return null;
  }
  const { mail, verified } = parsed.answer;
  const own = signedMessage([mailFrom], returnPathKeys)?.messageId ?? null;
  const [authentication, inReplyTo, isOwn] = await Promise.all([
    authenticate(resolver, hostname, stored, verified, mail.from?.email ?? null),
    findRepliedMessage(db, workspaceId, mail.answered, mail.from?.email.toLowerCase() ?? null),
    own !== null && isOwnMessage(db, workspaceId, own),
  ]);
  const attachments = mail.attachments.map((attachment) => ({ id: newId(), ...attachment }));
  return { mail: { ...mail, attachments }, inReplyTo, ownMessage: isOwn ? own : null, authentication };
}

async function complete(
  { clock, onReceived }: ReceivedDeps,
  tx: Queryable,
  lease: LeasedReceived,
  { raw: _raw, keep, ...stored }: StoredReceived,
  read: ReadReceived | null,
): Promise<void> {
  const { workspace_id: workspaceId, id } = lease;
  if (!(await settleReceived(tx, lease, read))) return;
  // An automatic answer says nothing about the recipient, and a bounce is no answer.
  if (read !== null && read.inReplyTo !== null && read.mail.automatic === null) {
    await recordReplied(tx, workspaceId, { messageId: read.inReplyTo, receivedId: id, now: clock.now() });
  }
  // The event has nothing of an unreadable mail, so that is kept.
  const news = { workspaceId, stored: { ...stored, keep: keep || read === null }, read };
  const isTold = stored.webhook && (await onReceived(tx, news));
  if (keep) return;
  if (isTold && read !== null) await removeReceivedEmail(tx, workspaceId, id);
  else await keepReceived(tx, workspaceId, id);
}
