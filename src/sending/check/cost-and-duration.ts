/** What a campaign costs and how long it takes, at the plan, the balance, the hourly cap and the speed of the workspace. */
import { Big } from "big.js";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { HOUR_MS } from "#platform/time-units.ts";
import { findSendingSpeed } from "#sending/campaigns/progress/store.ts";
import { type MeterReading, quotaOf } from "#workspace/billing/derive-meter-reading.ts";
import { capacityOf, chargedOf, remainingOf } from "#workspace/billing/meter-arithmetic.ts";
import type { CampaignCost, CampaignDuration } from "./campaign-check.ts";

/** @param messages that the campaign would have */
export function costOf(reading: MeterReading, messages: number): CampaignCost {
  const quota = quotaOf(reading, "email");
  const most = capacityOf(quota);
  const covered = Math.min(messages, most ?? messages);
  const charged = chargedOf(quota, covered);
  const remaining = remainingOf(quota);
  const amount = new Big(quota.rate ?? 0).times(charged).toFixed(6);
  return {
    amount,
    currency: "USD",
    included: remaining === null ? covered : Math.min(covered, covered - charged),
    charged,
    uncovered: messages - covered,
    balance: reading.account.balance,
  };
}

/** Null when nothing is known about the speed. */
export async function durationOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  reading: MeterReading,
  messages: number,
  now: Date,
): Promise<CampaignDuration | null> {
  const speed = await findSendingSpeed(db, workspaceId);
  const bySpeed = speed === null ? null : Math.ceil(messages / speed);
  const byCap = secondsAtCap(reading, messages, now);
  if (byCap !== null && byCap > (bySpeed ?? 0)) return { seconds: byCap, limited_by: "hourly_cap" };
  return bySpeed === null ? null : { seconds: bySpeed, limited_by: "speed" };
}

/** Null without a cap, or when this hour has room for all. Later messages wait for the hour that has room for them. */
function secondsAtCap(reading: MeterReading, messages: number, now: Date): number | null {
  const { hourly_cap: cap } = reading.account;
  if (cap === null || cap === 0) return null;
  const beyond = messages - Math.max(0, cap - reading.usedInHour.email);
  if (beyond <= 0) return null;
  const untilNextHour = HOUR_MS - (now.getTime() % HOUR_MS);
  return Math.ceil((untilNextHour + (Math.ceil(beyond / cap) - 1) * HOUR_MS) / 1_000);
}
