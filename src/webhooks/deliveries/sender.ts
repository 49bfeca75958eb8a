/**
 * Sends webhook deliveries, in the role jobs on any number of machines: leases due ones, posts them and writes the result
 * under the lease number. A delivery whose lease expires (after a kill) is sent again with the same id: at-least-once
 * delivery. Attempts are limited per webhook and per workspace, so that a slow receiver delays only its own deliveries.
 */
import { setTimeout as delay } from "node:timers/promises";
import { findHold } from "#delivery/hold/store.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import type { Log } from "#platform/log/log.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";
import { HOUR_MS, MINUTE_MS } from "#platform/time-units.ts";
import type { PostResult, PostToReceiver } from "#webhooks/post-to-receiver.ts";
import { secretContext, signatureHeaders } from "#webhooks/signature.ts";
import { recordFailure, recordSuccess } from "#webhooks/store.ts";
import { type LeasedDelivery, leaseDeliveries, type SettledAttempt, updateSettled } from "./store.ts";

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
/** Attempts at a time in this process. */
const MOST_ATTEMPTS = 100;
/** Attempts at a time of all machines. */
const MOST_OF_WEBHOOK = 10;
const MOST_OF_WORKSPACE = 40;
/** The pause between two leases, after some deliveries were due and after none was. */
const BUSY_MS = 50;
const IDLE_MS = 1_000;
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

export interface WebhookSender {
  /** Leases no more deliveries, and waits up to ten seconds for the attempts in progress. */
  stop(): Promise<void>;
}

export function startSender(deps: SenderDeps): WebhookSender {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = new Set<Promise<void>>();
  const work = async () => {
    while (!signal.aborted) {
      const found = await sendDue(deps, running).catch((err: unknown) => {
        deps.log.error({ err }, "webhook deliveries could not be leased");
        return 0;
      });
      await delay(found > 0 ? BUSY_MS : IDLE_MS, undefined, { signal }).catch(() => {});
    }
    await Promise.all(running);
  };
  const working = work();
  return {
    async stop() {
      stopping.abort();
      await working;
    },
  };
}

/**
 * Starts attempts of due deliveries, unless sending is held; each is in `running` until it ends, and never rejects.
 * @returns how many it started
 */
export async function sendDue(deps: SenderDeps, running: Set<Promise<void>>): Promise<number> {
  const most = MOST_ATTEMPTS - running.size;
  if (most <= 0 || (await findHold(deps.db)) !== undefined) return 0;
  const now = deps.clock.now();
  const leased = await deps.db.transaction((tx) =>
    leaseDeliveries(tx, {
      now,
      until: new Date(now.getTime() + LEASE_MS),
      most,
      mostOfWebhook: MOST_OF_WEBHOOK,
      mostOfWorkspace: MOST_OF_WORKSPACE,
    }),
  );
  for (const delivery of leased) {
    const attempt = send(deps, delivery).catch((err: unknown) =>
      deps.log.error({ err, delivery: delivery.id }, "webhook delivery attempt failed unexpectedly"),
    );
    running.add(attempt);
    void attempt.then(() => running.delete(attempt));
  }
  return leased.length;
}

async function send(
  { db, clock, secrets, post, onAttempt }: SenderDeps,
  delivery: LeasedDelivery,
): Promise<void> {
  const { id, body, url } = delivery;
  const time = clock.now();
  const signing = secretsOf(secrets, delivery, time);
  const headers = () => ({
    "content-type": "application/json",
    "user-agent": USER_AGENT,
    ...signatureHeaders({ id, time, body }, signing),
  });
  const result = signing.length === 0 ? unsigned : await post({ url, body, headers: headers() });
  const end = endOf(delivery, result, clock.now());
  await db.transaction(
    async (tx) => {
      if (!(await updateSettled(tx, delivery, end))) return;
      const { workspace_id: workspaceId, webhook_id: webhookId } = delivery;
      if (end.status === "delivered") await recordSuccess(tx, workspaceId, webhookId);
      if (end.status === "failed") {
        const reason = `${MOST_FAILURES} deliveries in a row were given up; the last error: ${end.error}`;
        await recordFailure(tx, workspaceId, webhookId, { most: MOST_FAILURES, reason, now: end.time });
      }
    },
    { mayRepeat: true },
  );
  onAttempt?.(attemptResults[end.status]);
}

const attemptResults = { delivered: "delivered", pending: "retried", failed: "given_up" } as const;

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

function endOf({ tries }: LeasedDelivery, result: PostResult, now: Date): SettledAttempt {
  const { isDelivered, statusCode, error, durationMs, answer } = result;
  const pause = isDelivered ? undefined : RETRY_AFTER_MS[tries];
  const settled = { statusCode, error, durationMs, answer, time: now };
  if (pause === undefined)
    return { ...settled, status: isDelivered ? "delivered" : "failed", nextAttemptAt: null };
  return { ...settled, status: "pending", nextAttemptAt: new Date(now.getTime() + pause) };
}
