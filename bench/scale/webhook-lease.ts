/**
 * D1: the lease of a hundred deliveries to webhooks, and the same after half of all deliveries were made while a
 * transaction goes on that sees all of them, as a backup does.
 */
import sql from "sql-template-tag";
import type { Database } from "#platform/database/pool.ts";
import { inOneSnapshot } from "#platform/database/snapshot-store.ts";
import { webhookLimits } from "#test/support/webhook-limits.ts";
import { type LeasedDelivery, leaseDeliveries } from "#webhooks/deliveries/lease-store.ts";
import { type SettledAttempt, settleDeliveries } from "#webhooks/deliveries/settle-store.ts";
import { LineScans, queueRequestedTurns } from "#webhooks/deliveries/turns-store.ts";
import type { Figure } from "../table.ts";
import { compare, timeOf } from "./compare.ts";
import type { Installation } from "./installation.ts";

const LEASED = 100;
const LEASE_MS = 60_000;
const MOST_REQUESTS = 5_000;

/** An installation, and where its sender's scans begin. */
interface Side {
  readonly installation: Installation;
  readonly scans: LineScans;
}

export async function compareWebhookLeases(large: Installation, small: Installation): Promise<Figure[]> {
  const sides = {
    large: { installation: large, scans: new LineScans() },
    small: { installation: small, scans: new LineScans() },
  };
  const what = `D1 lease of ${LEASED} webhook deliveries`;
  for (const side of [sides.large, sides.small]) await queueAllRequested(side);
  const full = await compare({ what, cost: leaseAndGiveBack, ...sides });
  await using snapshots = new AsyncDisposableStack();
  for (const side of [sides.large, sides.small]) {
    snapshots.use(await openSnapshot(side.installation.database));
    await makeHalf(side);
  }
  return [full, await compare({ what: `${what}, dead rows before them`, cost: leaseAndGiveBack, ...sides })];
}

/** Puts all workspaces into the line that were seeded at once; the senders of a running service did so long ago. */
async function queueAllRequested({ installation: { database, size }, scans }: Side): Promise<void> {
  for (let left = size.deliveries; left > 0; left -= MOST_REQUESTS)
    await queueRequestedTurns(database, new Date(), MOST_REQUESTS, scans);
}

async function leaseAndGiveBack(side: Side): Promise<number> {
  const leased: LeasedDelivery[] = [];
  const taken = await timeOf(async () => {
    while (leased.length < LEASED) leased.push(...(await lease(side, LEASED - leased.length)));
  });
  await settle(side, leased, "pending");
  return taken;
}

/** Leases as the sender does. */
async function lease({ installation: { database }, scans }: Side, most: number): Promise<LeasedDelivery[]> {
  const now = new Date();
  const until = new Date(now.getTime() + LEASE_MS);
  await queueRequestedTurns(database, now, MOST_REQUESTS, scans);
  return database.transaction((tx) => leaseDeliveries(tx, { now, until, most, scans, ...webhookLimits }));
}

/** @param status pending: the deliveries are due again */
async function settle(
  { installation: { database } }: Side,
  leased: readonly LeasedDelivery[],
  status: "pending" | "delivered",
): Promise<void> {
  const time = new Date();
  const attempts = leased.map(
    (delivery): SettledAttempt => ({
      lease: delivery,
      status,
      nextAttemptAt: status === "pending" ? time : null,
      statusCode: 200,
      error: null,
      durationMs: 1,
      answer: null,
      time,
    }),
  );
  await database.transaction((tx) => settleDeliveries(tx, attempts));
}

/** Makes half of all deliveries, the first ones of each receiver. */
async function makeHalf(side: Side): Promise<void> {
  let left = Math.floor(side.installation.size.deliveries / 2);
  while (left > 0) {
    const leased = await lease(side, Math.min(left, LEASED));
    await settle(side, leased, "delivered");
    left -= leased.length;
  }
}

/** Begins a transaction that sees the rows of this moment, so that no vacuum removes them until it ends. */
async function openSnapshot(db: Database): Promise<AsyncDisposable> {
  const end = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const ended = inOneSnapshot(db, async (tx) => {
    // It waits for the whole comparison.
    await tx.run(sql`set local idle_in_transaction_session_timeout = 0`);
    await tx.run(sql`select from webhook_turns limit 1`);
    begun.resolve();
    await end.promise;
  });
  await Promise.race([begun.promise, ended]);
  return {
    [Symbol.asyncDispose]() {
      end.resolve();
      return ended;
    },
  };
}
