/**
 * How much mail one network may send to open addresses in an hour, in mails and in stored octets: far more than the
 * feedback loop of a large provider and the reporters of DMARC send, far less than what keeps the readers busy.
 */
import type { Queryable } from "#platform/database/pool.ts";
import type { Limit } from "#platform/limits/limits.ts";
import { takeQuotas, usedOfQuota, useOf } from "#platform/limits/quota-store.ts";
import type { NewInboundMail } from "./store.ts";

/** At RCPT, before anything is sent: the quota of which nothing is left to this network, null when there is none. */
export async function findReachedQuota(db: Queryable, network: string, now: Date): Promise<Limit | null> {
  for (const name of ["openMailsPerNetwork", "openBytesPerNetwork"] as const) {
    const use = useOf(name, network);
    if ((await usedOfQuota(db, use, now)) >= use.quota.most) return use.quota;
  }
  return null;
}

/** When the mail is there. @returns the quota that has no room for these mails, null when they were counted */
export async function takeOpenQuota(
  db: Queryable,
  { network, mails }: { readonly network: string; readonly mails: readonly Pick<NewInboundMail, "raw">[] },
  now: Date,
): Promise<Limit | null> {
  if (mails.length === 0) return null;
  const bytes = mails.reduce((sum, { raw }) => sum + raw.length, 0);
  const uses = [
    { ...useOf("openBytesPerNetwork", network), amount: bytes },
    { ...useOf("openMailsPerNetwork", network), amount: mails.length },
  ];
  return (await takeQuotas(db, uses, now))?.limit ?? null;
}
