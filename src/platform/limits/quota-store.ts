/** Quotas: what a holder may use in an hour or a day, counted in the database over all machines. */
import sql from "sql-template-tag";
import type { Queryable } from "../database/pool.ts";
import type { Limit } from "./limits.ts";

const WINDOW_MS = { hour: 3_600_000, day: 86_400_000 } as const;

/** A limit with a window. */
export type Quota = Limit & { readonly per: "hour" | "day" };

export interface QuotaUse {
  /** The name of the limit in the table (limits.ts). */
  readonly name: string;
  readonly quota: Quota;
  /** Workspace id, network, mailbox and the like. */
  readonly holder: string;
  /** 1 unless said. */
  readonly amount?: number;
}

/** Windows begin at full hours and days, UTC. */
export function windowEnd({ per }: Quota, now: Date): Date {
  const ms = WINDOW_MS[per];
  return new Date(Math.floor(now.getTime() / ms) * ms + ms);
}

/**
 * Uses up a part of the quota, atomically with the caller's transaction.
 * @returns null when there was room, otherwise the time at which the window ends; then nothing was used
 */
export async function takeQuota(
  tx: Queryable,
  { name, quota, holder, amount = 1 }: QuotaUse,
  now: Date,
): Promise<Date | null> {
  const end = windowEnd(quota, now);
  if (amount > quota.most) return end;
  const taken = await tx.row(sql`
    insert into quota_uses as u (limit_name, holder, ends_at, used)
    values (${name}, ${holder}, ${end}, ${amount})
    on conflict (limit_name, holder, ends_at) do update set used = u.used + excluded.used
    where u.used + excluded.used <= ${quota.most}
    returning used`);
  return taken === undefined ? end : null;
}

/** What the holder has used in the present window. */
export async function usedOfQuota(
  db: Queryable,
  { name, quota, holder }: Omit<QuotaUse, "amount">,
  now: Date,
): Promise<number> {
  const row = await db.row<{ used: number }>(sql`
    select used from quota_uses
    where limit_name = ${name} and holder = ${holder} and ends_at = ${windowEnd(quota, now)}`);
  return row?.used ?? 0;
}

/** Removes up to `most` windows that have ended. @returns how many were removed */
export async function removeEndedQuotas(db: Queryable, now: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from quota_uses where (limit_name, holder, ends_at) in (
      select limit_name, holder, ends_at from quota_uses where ends_at <= ${now} limit ${most})`);
}
