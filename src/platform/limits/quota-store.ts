/** Quotas: what a holder may use in an hour or a day, counted in the database over all machines. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { Limit } from "./limit.ts";
import { type LimitName, limits } from "./limits.ts";

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

/** The limits of the table that have a window. */
export type QuotaName = {
  [Name in LimitName]: (typeof limits)[Name] extends { readonly per: Quota["per"] } ? Name : never;
}[LimitName];

export function useOf(name: QuotaName, holder: string): QuotaUse {
  return { name, quota: limits[name], holder };
}

/** A quota without room, and when its window ends. */
export interface Reached {
  readonly name: string;
  readonly limit: Quota;
  readonly ends: Date;
}

/**
 * Uses up a part of each quota, or of none; no two of them may be the same limit and holder. Transactions that take
 * several quotas have to name them in one order, or they wait for each other.
 * @returns null when all had room, otherwise the first that had none
 */
export async function takeQuotas(
  tx: Queryable,
  uses: readonly QuotaUse[],
  now: Date,
): Promise<Reached | null> {
  const places = await takeEach(tx, uses, now);
  const place = uses.findIndex((_, at) => !places.has(at));
  const refused = uses[place];
  if (refused === undefined) return null;
  for (const [at, use] of uses.entries()) if (places.has(at)) await giveBackQuota(tx, use, now);
  return { name: refused.name, limit: refused.quota, ends: windowEnd(refused.quota, now) };
}

/** Takes of each quota what it has room for. @returns the places of those that had room */
async function takeEach(tx: Queryable, uses: readonly QuotaUse[], now: Date): Promise<Set<number>> {
  const rows = uses.map(({ name, quota, holder, amount = 1 }, place) => ({
    place,
    name,
    holder,
    ends: windowEnd(quota, now),
    amount,
    most: quota.most,
  }));
  const taken = await tx.rows<{ place: number }>(sql`
    with asked as (
      select * from unnest(${rows.map(({ place }) => place)}::int[], ${rows.map(({ name }) => name)}::text[],
        ${rows.map(({ holder }) => holder)}::text[], ${rows.map(({ ends }) => ends.toISOString())}::timestamptz[],
        ${rows.map(({ amount }) => amount)}::bigint[], ${rows.map(({ most }) => most)}::bigint[])
        as a (place, limit_name, holder, ends_at, amount, most)
      where amount <= most order by place
    ), taken as (
      insert into quota_uses as u (limit_name, holder, ends_at, used)
      select limit_name, holder, ends_at, amount from asked order by place
      on conflict (limit_name, holder, ends_at) do update set used = u.used + excluded.used
      where u.used + excluded.used <= (
        select most from asked a where (a.limit_name, a.holder) = (u.limit_name, u.holder))
      returning limit_name, holder
    )
    select place from asked join taken using (limit_name, holder)`);
  return new Set(taken.map(({ place }) => place));
}

/** Counts what has been used already, beyond the quota as well. */
export async function noteUse(
  db: Queryable,
  { name, quota, holder, amount = 1 }: QuotaUse,
  now: Date,
): Promise<void> {
  await db.run(sql`
    insert into quota_uses as u (limit_name, holder, ends_at, used)
    values (${name}, ${holder}, ${windowEnd(quota, now)}, ${amount})
    on conflict (limit_name, holder, ends_at) do update set used = u.used + excluded.used`);
}

/** Gives back what was taken at `takenAt`; nothing where that window has been removed. */
export async function giveBackQuota(
  tx: Queryable,
  { name, quota, holder, amount = 1 }: QuotaUse,
  takenAt: Date,
): Promise<void> {
  await tx.run(sql`
    update quota_uses set used = greatest(used - ${amount}, 0)
    where limit_name = ${name} and holder = ${holder} and ends_at = ${windowEnd(quota, takenAt)}`);
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
