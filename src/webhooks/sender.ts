/**
 * What delivers, in the role jobs, on as many machines as have it: due deliveries are leased, sent, and settled under the
 * number of their lease. A lease that lapses (a kill) is due again with the same id: receivers hear of everything at least
 * once. Attempts under way are few for each receiver and each workspace, so that slow ones wait for themselves.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import type { Log } from "#platform/log/log.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";
import {
  type LeasedDelivery,
  leaseDeliveries,
  type SettledAttempt,
  updateSettled,
} from "./delivery-store.ts";
import type { AttemptResult, PostToReceiver } from "./receiver.ts";
import { secretContext } from "./secret-context.ts";
import { signatureHeaders } from "./signature.ts";
import { recordFailure, recordSuccess } from "./store.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** The pauses before each retry; after the last one a delivery is given up. */
export const RETRY_AFTER_MS = [
  MINUTE / 2,
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  6 * HOUR,
  24 * HOUR,
];
/** Deliveries given up in a row that switch a receiver off. */
export const MOST_FAILURES = 30;
/** Well above the ten seconds of an attempt. */
const LEASE_MS = MINUTE;
const UNDER_WAY = 100;
const UNDER_WAY_OF_WEBHOOK = 10;
const UNDER_WAY_OF_WORKSPACE = 40;
/** Between one look for work and the next: while there is some, and while there was none. */
const BUSY_MS = 50;
const IDLE_MS = 1_000;
const USER_AGENT = "Posthaste-Webhooks/1";

export interface SenderDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly secrets: Secrets;
  readonly post: PostToReceiver;
}

export interface WebhookSender {
  /** Takes nothing new, and waits for what is under way: ten seconds at most. */
  stop(): Promise<void>;
}

/** Sends until it is stopped. */
export function startSender(deps: SenderDeps): WebhookSender {
  const stopping = new AbortController();
  const { signal } = stopping;
  const underWay = new Set<Promise<void>>();
  const work = async () => {
    while (!signal.aborted) {
      const found = await sendDue(deps, underWay).catch((err: unknown) => {
        deps.log.error({ err }, "webhook deliveries could not be leased");
        return 0;
      });
      await delay(found > 0 ? BUSY_MS : IDLE_MS, undefined, { signal }).catch(() => {});
    }
    await Promise.all(underWay);
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
 * Begins what is due now, and adds it to `underWay` for as long as it lasts. No attempt rejects.
 * @returns how many it began
 */
export async function sendDue(deps: SenderDeps, underWay: Set<Promise<void>>): Promise<number> {
  const most = UNDER_WAY - underWay.size;
  if (most <= 0) return 0;
  const now = deps.clock.now();
  const leased = await deps.db.transaction((tx) =>
    leaseDeliveries(tx, {
      now,
      until: new Date(now.getTime() + LEASE_MS),
      most,
      mostOfWebhook: UNDER_WAY_OF_WEBHOOK,
      mostOfWorkspace: UNDER_WAY_OF_WORKSPACE,
    }),
  );
  for (const delivery of leased) {
    const attempt = send(deps, delivery).catch((err: unknown) =>
      deps.log.error({ err, delivery: delivery.id }, "a webhook delivery could not be made"),
    );
    underWay.add(attempt);
    void attempt.then(() => underWay.delete(attempt));
  }
  return leased.length;
}

async function send({ db, clock, secrets, post }: SenderDeps, delivery: LeasedDelivery): Promise<void> {
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
        const reason = `${MOST_FAILURES} deliveries in a row were given up; the last one: ${end.error}`;
        await recordFailure(tx, workspaceId, webhookId, { most: MOST_FAILURES, reason, now: end.time });
      }
    },
    { mayRepeat: true },
  );
}

/** What no signature can be made for is not sent; each retry looks again, for the operator may bring the key back. */
const unsigned: AttemptResult = {
  isDelivered: false,
  statusCode: null,
  error:
    "the webhook's secret cannot be read, for the SECRET_KEY of the service has changed: rotate the secret",
  durationMs: 0,
};

/** Those that sign now; none when the webhook's own cannot be read. */
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

function endOf({ tries }: LeasedDelivery, result: AttemptResult, now: Date): SettledAttempt {
  const { isDelivered, statusCode, error, durationMs } = result;
  const pause = isDelivered ? undefined : RETRY_AFTER_MS[tries];
  const settled = { statusCode, error, durationMs, time: now };
  if (pause === undefined)
    return { ...settled, status: isDelivered ? "delivered" : "failed", nextAttemptAt: null };
  return { ...settled, status: "pending", nextAttemptAt: new Date(now.getTime() + pause) };
}
