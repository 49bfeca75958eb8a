/**
 * Sends webhook deliveries, in the role jobs on any number of machines: leases due ones, posts them and writes the results
 * under the ids of the leases. A delivery whose lease expires (after a kill) is sent again with the same id: at-least-once
 * delivery. Attempts are limited per webhook and per workspace, so that a slow receiver delays only its own deliveries.
 */
import { setTimeout as delay } from "node:timers/promises";
import { findHold } from "#delivery/hold/store.ts";
import type { Clock } from "#platform/clock.ts";
import { batchOrOneByOne } from "#platform/database/data-fault.ts";
import type { Database } from "#platform/database/pool.ts";
import type { Log } from "#platform/log/log.ts";
import { MicroBatch } from "#platform/micro-batch.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";
import { HOUR_MS, MINUTE_MS } from "#platform/time-units.ts";
import type { PostResult, PostToReceiver } from "#webhooks/post-to-receiver.ts";
import { secretContext, signatureHeaders } from "#webhooks/signature.ts";
import { type EndedDeliveries, recordEnded } from "#webhooks/store.ts";
import { type LeasedDelivery, leaseDeliveries } from "./lease-store.ts";
import { ReceiverPace } from "./receiver-pace.ts";
import { type SettledAttempt, settleDeliveries } from "./settle-store.ts";
import { LineScans, queueRequestedTurns } from "./turns-store.ts";

/** The pause before each retry. A delivery is given up when the last retry fails. */
export const RETRY_AFTER_MS = [
  MINUTE_MS / 2,
  MINUTE_MS,
  2 * MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  24 * HOUR_MS,
];
/** The number of deliveries given up in a row that switches a webhook off. */
export const MOST_FAILURES = 30;
/** Well above the ten seconds of an attempt. */
const LEASE_MS = MINUTE_MS;
/** Deliveries at a time in this process: attempts in progress, and results that are not written. */
const MOST_AT_A_TIME = 400;
/** Deliveries in one lease; with fewer free places than LEAST_LEASED none are leased. */
const MOST_LEASED = 200;
const LEAST_LEASED = 50;
/** Attempts at a time of all machines. */
const MOST_OF_WEBHOOK = 10;
const MOST_OF_WORKSPACE = 40;
/** Requests that one statement puts into the line; with each lease. */
const MOST_REQUESTS = 5_000;
/** Results that one statement writes. */
const MOST_SETTLED = 200;
/**
 * The pause between two leases: after one that found some deliveries or while too many are in progress, while some are in
 * progress, and otherwise.
 */
const BUSY_MS = 10;
const WAITING_MS = 50;
const IDLE_MS = 1_000;
/** The pause before results are written again after a failure. */
const REWRITE_MS = 1_000;
const USER_AGENT = "Posthaste-Webhooks/1";

export interface SenderDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly secrets: Secrets;
  readonly post: PostToReceiver;
  /** Called with the result of each attempt, for the metrics. */
  readonly onAttempt?: (result: WebhookAttemptResult) => void;
}

export type WebhookAttemptResult = "delivered" | "retried" | "given_up";

export class WebhookSender {
  readonly #deps: SenderDeps;
  readonly #stopping = new AbortController();
  readonly #attempts = new Set<Promise<void>>();
  readonly #results: MicroBatch<SettledAttempt>;
  readonly #pace = new ReceiverPace();
  readonly #scans = new LineScans();
  /** Results that wait or are being written. */
  #unwritten = 0;
  #working: Promise<void> | undefined;

  constructor(deps: SenderDeps) {
    this.#deps = deps;
    this.#results = new MicroBatch({
      flush: (batch) => this.#flush(batch),
      size: MOST_SETTLED,
      startsNextTurn: true,
    });
  }

  /** Leases and sends due deliveries until `stop`. */
  start(): void {
    this.#working = this.#work();
  }

  /** Leases no more deliveries, and waits up to ten seconds for the attempts in progress. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#working;
    await this.settled();
  }

  /** Resolves when the attempts in progress have ended and their results are written. */
  async settled(): Promise<void> {
    await Promise.all(this.#attempts);
    await this.#results.flushed();
  }

  /** Starts attempts of due deliveries, unless sending is held. @returns how many */
  async sendDue(): Promise<number> {
    const { db, clock } = this.#deps;
    if (this.#isFull) return 0;
    const now = clock.now();
    const [hold] = await Promise.all([
      findHold(db),
      queueRequestedTurns(db, now, MOST_REQUESTS, this.#scans),
    ]);
    if (hold !== undefined) return 0;
    const leased = await db.transaction((tx) =>
      leaseDeliveries(tx, {
        now,
        until: new Date(now.getTime() + LEASE_MS),
        most: Math.min(MOST_LEASED, this.#places),
        mostOfWebhook: MOST_OF_WEBHOOK,
        mostOfWorkspace: MOST_OF_WORKSPACE,
        scans: this.#scans,
        ...this.#pace.limits,
      }),
    );
    for (const delivery of leased) {
      const attempt = this.#attempt(delivery);
      this.#attempts.add(attempt);
      void attempt.then(() => this.#attempts.delete(attempt));
    }
    return leased.length;
  }

  get #atATime(): number {
    return this.#attempts.size + this.#unwritten;
  }

  get #places(): number {
    return MOST_AT_A_TIME - this.#atATime;
  }

  get #isFull(): boolean {
    return this.#places < LEAST_LEASED;
  }

  async #work(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const found = await this.sendDue().catch((err: unknown) => {
        this.#deps.log.error({ err }, "webhook deliveries could not be leased");
        return 0;
      });
      const pause = found > 0 || this.#isFull ? BUSY_MS : this.#atATime > 0 ? WAITING_MS : IDLE_MS;
      if (found < MOST_LEASED) await delay(pause, undefined, { signal }).catch(() => {});
    }
  }

  /** Never rejects. */
  async #attempt(delivery: LeasedDelivery): Promise<void> {
    const { clock, secrets, post, log } = this.#deps;
    const { id, body, url } = delivery;
    try {
      const time = clock.now();
      const signing = secretsOf(secrets, delivery, time);
      const headers = () => ({
        "content-type": "application/json",
        "user-agent": USER_AGENT,
        ...signatureHeaders({ id, time, body }, signing),
      });
      const result = await this.#pace.during(delivery.webhook_id, async () =>
        signing.length === 0 ? unsigned : post({ url, body, headers: headers() }),
      );
      this.#unwritten += 1;
      this.#results.add(endOf(delivery, result, clock.now()));
    } catch (err) {
      log.error({ err, delivery: id }, "webhook delivery attempt failed unexpectedly");
    }
  }

  /** Results that cannot be written are dropped when their leases have expired: the deliveries are sent again. */
  async #flush(batch: readonly SettledAttempt[]): Promise<void> {
    const { clock, log } = this.#deps;
    const until = clock.now().getTime() + LEASE_MS;
    while (!(await this.#isWritten(batch))) {
      if (this.#stopping.signal.aborted || clock.now().getTime() >= until) {
        log.error({ count: batch.length }, "results of webhook deliveries were lost; these are sent again");
        break;
      }
      await delay(REWRITE_MS);
    }
    this.#unwritten -= batch.length;
  }

  /** Never rejects. */
  async #isWritten(batch: readonly SettledAttempt[]): Promise<boolean> {
    const { db, log, onAttempt } = this.#deps;
    try {
      await batchOrOneByOne(
        batch,
        async (attempts) => {
          await writeResults(db, attempts);
          for (const { status } of attempts) onAttempt?.(attemptResults[status]);
        },
        ({ lease: { id } }, err) =>
          log.error({ err, delivery: id }, "PostgreSQL rejects the result of a webhook delivery"),
      );
      return true;
    } catch (err) {
      log.error({ err }, "results of webhook deliveries could not be written");
      return false;
    }
  }
}

const attemptResults = { delivered: "delivered", pending: "retried", failed: "given_up" } as const;

/** Writes results, and counts the failures of webhooks in the order in which the attempts ended. */
async function writeResults(db: Database, attempts: readonly SettledAttempt[]): Promise<void> {
  await db.transaction(
    async (tx) => {
      const settled = await settleDeliveries(tx, attempts);
      const written = new Set(settled.map(({ webhook_id: webhookId, id }) => `${webhookId} ${id}`));
      const ended = attempts.filter(
        ({ status, lease }) => status !== "pending" && written.has(`${lease.webhook_id} ${lease.id}`),
      );
      const byWebhook = [...Map.groupBy(ended, ({ lease }) => lease.webhook_id).values()];
      const last = attempts.at(-1);
      if (byWebhook.length === 0 || last === undefined) return;
      await recordEnded(tx, byWebhook.map(countEnded), { most: MOST_FAILURES, now: last.time });
    },
    { mayRepeat: true },
  );
}

/** @param ended the deliveries of one webhook, at least one */
function countEnded(ended: readonly SettledAttempt[]): EndedDeliveries {
  const lastSuccess = ended.findLastIndex(({ status }) => status === "delivered");
  const last = ended.at(-1);
  if (last === undefined) throw new Error("no delivery ended");
  return {
    workspaceId: last.lease.workspace_id,
    webhookId: last.lease.webhook_id,
    hasSucceeded: lastSuccess >= 0,
    failures: ended.length - 1 - lastSuccess,
    reason: `${MOST_FAILURES} deliveries in a row were given up; the last error: ${last.error}`,
  };
}

/** Without a secret nothing is sent. The delivery is retried, because the operator may restore the key. */
const unsigned: PostResult = {
  isDelivered: false,
  statusCode: null,
  error:
    "the webhook's secret cannot be decrypted, because the SECRET_KEY of the service has changed: rotate the secret",
  durationMs: 0,
  answer: null,
};

/** The secrets that sign at `now`; none when the current one cannot be decrypted. */
function secretsOf(secrets: Secrets, delivery: LeasedDelivery, now: Date): string[] {
  const { secret, previous_secret: previous, previous_secret_until: until } = delivery;
  const opened = (sealed: Buffer): string[] => {
    try {
      return [secrets.open(sealed, secretContext(delivery.webhook_id))];
    } catch {
      return [];
    }
  };
  const own = opened(secret);
  const isRotated = own.length > 0 && previous !== null && until !== null && until > now;
  return isRotated ? [...own, ...opened(previous)] : own;
}

function endOf(lease: LeasedDelivery, result: PostResult, now: Date): SettledAttempt {
  const { isDelivered, statusCode, error, durationMs, answer } = result;
  const pause = isDelivered ? undefined : RETRY_AFTER_MS[lease.tries];
  const settled = { lease, statusCode, error, durationMs, answer, time: now };
  if (pause === undefined)
    return { ...settled, status: isDelivered ? "delivered" : "failed", nextAttemptAt: null };
  return { ...settled, status: "pending", nextAttemptAt: new Date(now.getTime() + pause) };
}
