/** D1: the lease of a hundred deliveries to webhooks, and the same after half of all deliveries were made. */
import sql from "sql-template-tag";
import { webhookLimits } from "#test/support/webhook-limits.ts";
import { type LeasedDelivery, leaseDeliveries } from "#webhooks/deliveries/lease-store.ts";
import { type SettledAttempt, settleDeliveries } from "#webhooks/deliveries/settle-store.ts";
import { queueRequestedTurns } from "#webhooks/deliveries/turns-store.ts";
import type { Figure } from "../table.ts";
import { compare, timeOf } from "./compare.ts";
import type { Installation } from "./installation.ts";

const LEASED = 100;
const LEASE_MS = 60_000;
const MOST_REQUESTS = 5_000;

export async function compareWebhookLeases(large: Installation, small: Installation): Promise<Figure[]> {
  const sides = { large, small, cost: leaseAndGiveBack };
  const what = `D1 lease of ${LEASED} webhook deliveries`;
  const full = await compare({ what, ...sides });
  for (const side of [large, small]) await makeHalf(side);
  return [full, await compare({ what: `${what}, dead rows before them`, ...sides })];
}

async function leaseAndGiveBack(side: Installation): Promise<number> {
  const leased: LeasedDelivery[] = [];
  const taken = await timeOf(async () => {
    while (leased.length < LEASED) leased.push(...(await lease(side, LEASED - leased.length)));
  });
  await settle(side, leased, "pending");
  return taken;
}

/** Leases as the sender does. */
async function lease({ database }: Installation, most: number): Promise<LeasedDelivery[]> {
  const now = new Date();
  const until = new Date(now.getTime() + LEASE_MS);
  await queueRequestedTurns(database, now, MOST_REQUESTS);
  return database.transaction((tx) => leaseDeliveries(tx, { now, until, most, ...webhookLimits }));
}

/** @param status pending: the deliveries are due again */
async function settle(
  { database }: Installation,
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

/** Makes half of all deliveries, the first ones of each receiver. Their index entries stay as dead ones. */
async function makeHalf(side: Installation): Promise<void> {
  await side.database.run(sql`alter table webhook_deliveries set (autovacuum_enabled = false)`);
  let left = Math.floor(side.size.deliveries / 2);
  while (left > 0) {
    const leased = await lease(side, Math.min(left, LEASED));
    await settle(side, leased, "delivered");
    left -= leased.length;
  }
}
