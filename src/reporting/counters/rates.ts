/** Sums and rates that several reports use. */
import type { Counts, MessageStatusCounts } from "#messages/counters/counters.ts";
import { fraction } from "#platform/fraction.ts";

/** Bounces by their time of arrival. */
export function bouncesOf(counts: Pick<Counts, "hard_bounces" | "soft_bounces" | "block_bounces">): number {
  return counts.hard_bounces + counts.soft_bounces + counts.block_bounces;
}

/** Messages with at least one finished attempt: the base of bounce rates. */
export function attemptedOf(counts: MessageStatusCounts): number {
  return deliveredOf(counts) + counts.deferred + counts.bounced + counts.failed;
}

/**
 * Messages that were accepted by the receiver and did not bounce later, including those complained about: the base of
 * complaint rates.
 */
export function deliveredOf({ delivered, complained }: MessageStatusCounts): number {
  return delivered + complained;
}

/** 0 to 100, two decimals; 0 when `whole` is 0. */
export function percentOf(part: number, whole: number): number {
  return Number((100 * fraction(part, whole)).toFixed(2));
}
