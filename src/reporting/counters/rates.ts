/** Sums and rates that reports have in common. */
import type { Counts, MessageStatusCounts } from "#messages/counters/counters.ts";
import { fraction } from "#platform/fraction.ts";

/** Bounces by when they came. */
export function bouncesOf(counts: Pick<Counts, "hard_bounces" | "soft_bounces" | "block_bounces">): number {
  return counts.hard_bounces + counts.soft_bounces + counts.block_bounces;
}

/** Messages of which an attempt has ended: what a rate of bounces is of. */
export function attemptedOf(counts: MessageStatusCounts): number {
  return deliveredOf(counts) + counts.deferred + counts.bounced + counts.failed;
}

/** Messages that were taken and did not come back, complained about or not: what a rate of complaints is of. */
export function deliveredOf({ delivered, complained }: MessageStatusCounts): number {
  return delivered + complained;
}

/** From 0 to 100, with two decimals; 0 of nothing. */
export function percentOf(part: number, whole: number): number {
  return Number((100 * fraction(part, whole)).toFixed(2));
}
