/** Limits how often passwords and codes can be guessed. A token is taken before the guess, and put back after success. */
import { hash } from "node:crypto";
import type { Queryable } from "#platform/database/pool.ts";
import { networkOf } from "#platform/http/auth/source-network.ts";
import type { Limit } from "#platform/limits/limit.ts";
import { limitRefusal } from "#platform/limits/limit-errors.ts";
import { limits } from "#platform/limits/limits.ts";
import { MINUTE_MS } from "#platform/time-units.ts";
import {
  type BucketSize,
  findBucketFullAt,
  giveTokenBack,
  removeBucket,
  takeToken,
} from "./attempts-store.ts";

const WINDOW_MS = 15 * MINUTE_MS;

interface Bucket {
  readonly name: string;
  readonly limit: Limit;
}

/** An attempt whose tokens are taken. */
export interface CountedAttempt {
  readonly buckets: readonly Bucket[];
  /** Whether it took the last token of the account: the next one is refused. */
  readonly isLastOfAccount: boolean;
}

const accountBucket = (email: string): Bucket => ({
  // Hashed, so that a name of any length is short.
  name: `account ${hash("sha256", email, "base64url")}`,
  limit: limits.signInsOfAccount,
});

const sizeOf = ({ limit }: Bucket): BucketSize => ({ most: limit.most, tokenMs: WINDOW_MS / limit.most });

/**
 * Begins an attempt to sign in.
 * @param browser the id of a browser from which the person of this address has signed in: it has a bucket of its own, so that
 *   attackers elsewhere cannot lock the person out
 * @throws ApiError RATE_LIMIT_EXCEEDED
 */
export async function beginSignInAttempt(
  db: Queryable,
  { email, ip, browser }: { readonly email: string; readonly ip: string; readonly browser: string | null },
  now: Date,
): Promise<CountedAttempt> {
  if (browser !== null) {
    return takeAll(db, [{ name: `browser ${browser}`, limit: limits.signInsOfBrowser }], now);
  }
  const network = { name: `network ${networkOf(ip)}`, limit: limits.signInsOfNetwork };
  return takeAll(db, [network, accountBucket(email)], now);
}

/** Begins an attempt to prove a second factor with a code. @throws ApiError RATE_LIMIT_EXCEEDED */
export function beginFactorAttempt(db: Queryable, userId: string, now: Date): Promise<CountedAttempt> {
  return takeAll(db, [{ name: `factor ${userId}`, limit: limits.secondFactorsOfAccount }], now);
}

/** Begins an attempt of a signed-in person to prove who they are. @throws ApiError RATE_LIMIT_EXCEEDED */
export function beginConfirmationAttempt(
  db: Queryable,
  sessionId: string,
  now: Date,
): Promise<CountedAttempt> {
  return takeAll(db, [{ name: `session ${sessionId}`, limit: limits.confirmationsOfSession }], now);
}

/**
 * Begins an attempt to open a share link with its password. The bucket of the link alone is larger, so that one network
 * cannot close it to others.
 * @throws ApiError RATE_LIMIT_EXCEEDED
 */
export function beginShareAttempt(
  db: Queryable,
  { linkId, ip }: { readonly linkId: string; readonly ip: string },
  now: Date,
): Promise<CountedAttempt> {
  const ofNetwork = { name: `share ${linkId} ${networkOf(ip)}`, limit: limits.sharePasswordsOfNetwork };
  return takeAll(db, [ofNetwork, { name: `share ${linkId}`, limit: limits.sharePasswordsOfLink }], now);
}

/** Counts a call that costs something and that anyone may make. @throws ApiError RATE_LIMIT_EXCEEDED */
export async function countVisit(db: Queryable, ip: string, now: Date): Promise<void> {
  await takeAll(db, [{ name: `visit ${networkOf(ip)}`, limit: limits.signInPagesOfNetwork }], now);
}

/** Puts the tokens of an attempt that succeeded back. */
export async function endAttempt(db: Queryable, { buckets }: CountedAttempt): Promise<void> {
  for (const bucket of buckets) await giveTokenBack(db, bucket.name, sizeOf(bucket));
}

/** Ends the limit of an account, whose person has proved by mail that the address is theirs. */
export function clearAttempts(db: Queryable, email: string): Promise<void> {
  return removeBucket(db, accountBucket(email).name);
}

async function takeAll(db: Queryable, buckets: readonly Bucket[], now: Date): Promise<CountedAttempt> {
  let isLastOfAccount = false;
  for (const bucket of buckets) {
    const size = sizeOf(bucket);
    const fullAt = await takeToken(db, bucket.name, size, now);
    if (fullAt === undefined) {
      const full = (await findBucketFullAt(db, bucket.name)) ?? now;
      throw limitRefusal(bucket.limit, now, new Date(full.getTime() - (size.most - 1) * size.tokenMs));
    }
    const isEmpty = fullAt.getTime() - now.getTime() > (size.most - 1) * size.tokenMs;
    if (isEmpty && bucket.limit === limits.signInsOfAccount) isLastOfAccount = true;
  }
  return { buckets, isLastOfAccount };
}
