/** Hourly quotas of mail to inbound routes, of a network and of a workspace, in mails and in octets. */
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Limit } from "#platform/limits/limit.ts";
import { noteUse, type QuotaUse, takeQuotas, usedOfQuota, useOf } from "#platform/limits/quota-store.ts";

export interface MailHolders {
  readonly network: string;
  readonly workspaceId: WorkspaceId;
}

const mailsOf = ({ network, workspaceId }: MailHolders): QuotaUse[] => [
  useOf("receivedMailsPerNetwork", network),
  useOf("receivedMailsPerWorkspace", workspaceId),
];

const octetsOf = ({ network, workspaceId }: MailHolders): QuotaUse[] => [
  useOf("receivedBytesPerNetwork", network),
  useOf("receivedBytesPerWorkspace", workspaceId),
];

/** For RCPT: a quota that is used up; null when there is none. */
export async function findReachedReceivingQuota(
  db: Queryable,
  holders: MailHolders,
  now: Date,
): Promise<Limit | null> {
  for (const use of [...mailsOf(holders), ...octetsOf(holders)]) {
    if ((await usedOfQuota(db, use, now)) >= use.quota.most) return use.quota;
  }
  return null;
}

/** Counts a received mail. @returns the quota that it exceeds; null when it was counted */
export async function takeReceivedMail(
  tx: Queryable,
  holders: MailHolders,
  now: Date,
): Promise<Limit | null> {
  return (await takeQuotas(tx, mailsOf(holders), now))?.limit ?? null;
}

/** Counts received octets, also of refused mail. */
export async function noteReceivedOctets(
  db: Queryable,
  holders: MailHolders,
  octets: number,
  now: Date,
): Promise<void> {
  for (const use of octetsOf(holders)) await noteUse(db, { ...use, amount: octets }, now);
}
