/**
 * Hourly quotas of mail from one network to open addresses, in mails and in octets: far more than feedback loops of large
 * providers and DMARC reporters send, far less than what would keep the parser threads busy.
 */
import type { Queryable } from "#platform/database/pool.ts";
import type { Limit } from "#platform/limits/limit.ts";
import { findUsedUp, noteUses, takeQuotas, useOf } from "#platform/limits/quota-store.ts";

/** For RCPT: a quota that the network has used up; null when there is none. */
export function findReachedQuota(db: Queryable, network: string, now: Date): Promise<Limit | null> {
  return findUsedUp(db, [useOf("openMailsPerNetwork", network), useOf("openBytesPerNetwork", network)], now);
}

/** Counts received mails. @returns the quota that they exceed; null when they were counted */
export async function takeOpenMails(
  db: Queryable,
  { network, mails }: { readonly network: string; readonly mails: number },
  now: Date,
): Promise<Limit | null> {
  if (mails === 0) return null;
  return (
    (await takeQuotas(db, [{ ...useOf("openMailsPerNetwork", network), amount: mails }], now))?.limit ?? null
  );
}

/** Counts received octets, also of refused mail. */
export async function noteOpenOctets(
  db: Queryable,
  { network, octets }: { readonly network: string; readonly octets: number },
  now: Date,
): Promise<void> {
  await noteUses(db, [{ ...useOf("openBytesPerNetwork", network), amount: octets }], now);
}
