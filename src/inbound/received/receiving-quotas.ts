/** Hourly quotas of mail to inbound routes, of a network and of a workspace, in mails and in octets. */
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Limit } from "#platform/limits/limit.ts";
import { findUsedUp, noteUses, type QuotaUse, takeQuotas, useOf } from "#platform/limits/quota-store.ts";

export interface MailHolders {
  readonly network: string;
  readonly workspaceId: WorkspaceId;
}

const mailsOf = ({ network, workspaceId }: MailHolders, amount: number): QuotaUse[] => [
  { ...useOf("receivedMailsPerNetwork", network), amount },
  { ...useOf("receivedMailsPerWorkspace", workspaceId), amount },
];

const octetsOf = ({ network, workspaceId }: MailHolders, amount: number): QuotaUse[] => [
  { ...useOf("receivedBytesPerNetwork", network), amount },
  { ...useOf("receivedBytesPerWorkspace", workspaceId), amount },
];

/** For RCPT: a quota that is used up; null when there is none. */
export function findReachedReceivingQuota(
  db: Queryable,
  holders: MailHolders,
  now: Date,
): Promise<Limit | null> {
  return findUsedUp(db, [...mailsOf(holders, 0), ...octetsOf(holders, 0)], now);
}

/** Counts a mail once for each of its recipients. @returns the quota that it exceeds; null when it was counted */
export async function takeReceivedMail(
  tx: Queryable,
  holders: MailHolders,
  recipients: number,
  now: Date,
): Promise<Limit | null> {
  return (await takeQuotas(tx, mailsOf(holders, recipients), now))?.limit ?? null;
}

/** Counts received octets, also of refused mail. */
export function noteReceivedOctets(
  db: Queryable,
  holders: MailHolders,
  octets: number,
  now: Date,
): Promise<void> {
  return noteUses(db, octetsOf(holders, octets), now);
}
