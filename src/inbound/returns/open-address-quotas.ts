/**
 * How much mail one network may send to open addresses in an hour, in mails and in octets: far more than the
 * feedback loop of a large provider and the reporters of DMARC send, far less than what keeps the readers busy.
 */
import type { Queryable } from "#platform/database/pool.ts";
import type { Limit } from "#platform/limits/limit.ts";
import { noteUse, takeQuotas, usedOfQuota, useOf } from "#platform/limits/quota-store.ts";

/** At RCPT, before anything is sent: the quota of which nothing is left to this network, null when there is none. */
export async function findReachedQuota(db: Queryable, network: string, now: Date): Promise<Limit | null> {
  for (const name of ["openMailsPerNetwork", "openBytesPerNetwork"] as const) {
    const use = useOf(name, network);
    if ((await usedOfQuota(db, use, now)) >= use.quota.most) return use.quota;
  }
  return null;
}

/** When the mail is there. @returns the quota that has no room for so many mails, null when they were counted */
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

/** Octets count when they have been received, whatever becomes of the mail. */
export async function noteOpenOctets(
  db: Queryable,
  { network, octets }: { readonly network: string; readonly octets: number },
  now: Date,
): Promise<void> {
  await noteUse(db, { ...useOf("openBytesPerNetwork", network), amount: octets }, now);
}
