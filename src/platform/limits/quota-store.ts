/** Quotas: limits per hour or day, counted in the database for all machines. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import { DAY_MS, HOUR_MS } from "#platform/time-units.ts";
import type { Limit } from "./limit.ts";
import { refuseReached } from "./limit-errors.ts";
import { type LimitName, limits } from "./limits.ts";

const WINDOW_MS = { hour: HOUR_MS, day: DAY_MS } as const;

/** A limit with a window. */
export type Quota = Limit & { readonly per: "hour" | "day" };

export interface QuotaUse {
  /** The name of the limit in limits.ts. */
  readonly name: string;
  readonly quota: Quota;
  /** For example a workspace id, network or mailbox. */
  readonly holder: string;
  /** Default: 1. */
  readonly amount?: number;
}

/** The end of the current window. Windows start at full hours and days, UTC. */
export function windowEnd({ per }: Quota, now: Date): Date {
  const ms = WINDOW_MS[per];
  return new Date(Math.floor(now.getTime() / ms) * ms + ms);
}

/**
 * Uses a part of the quota, in the transaction of the caller.
 * @returns null if it was enough; otherwise nothing was used, and the result is the end of the window
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

/** Uses a part of the quota, or refuses. @throws ApiError RATE_LIMIT_EXCEEDED; nothing is used then */
export async function requireQuota(tx: Queryable, use: QuotaUse, now: Date): Promise<void> {
  const ends = await takeQuota(tx, use, now);
  refuseReached(ends === null ? null : { limit: use.quota, ends }, now);
}

/** The names of limits with a window. */
export type QuotaName = {
  [Name in LimitName]: (typeof limits)[Name] extends { readonly per: Quota["per"] } ? Name : never;
}[LimitName];

export function useOf(name: QuotaName, holder: string): QuotaUse {
  return { name, quota: limits[name], holder };
}

/** A quota that is used up, and the end of its window. */
export interface Reached {
  readonly name: string;
  readonly limit: Quota;
  readonly ends: Date;
}

/**
 * Uses a part of each quota, or of none. No two may have the same limit and holder, and all transactions must list quotas in
 * the same order, or they could deadlock.
 * @returns null if all were enough, otherwise the first that was not
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

/** Uses each quota that is enough. @returns the indexes of these */
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

/** Counts uses that have already happened, even if they exceed their quotas. No two may have the same limit and holder. */
export async function noteUses(db: Queryable, uses: readonly QuotaUse[], now: Date): Promise<void> {
  const column = <Value>(read: (use: QuotaUse) => Value) => uses.map(read);
  await db.run(sql`
    insert into quota_uses as u (limit_name, holder, ends_at, used)
    select limit_name, holder, ends_at, amount
    from unnest(${column(({ name }) => name)}::text[], ${column(({ holder }) => holder)}::text[],
      ${column(({ quota }) => windowEnd(quota, now).toISOString())}::timestamptz[],
      ${column(({ amount = 1 }) => amount)}::bigint[]) as n (limit_name, holder, ends_at, amount)
    order by limit_name, holder
    on conflict (limit_name, holder, ends_at) do update set used = u.used + excluded.used`);
}

/** The first quota that is used up; null when there is none. */
export async function findUsedUp(
  db: Queryable,
  uses: readonly Omit<QuotaUse, "amount">[],
  now: Date,
): Promise<Quota | null> {
  const column = <Value>(read: (use: Omit<QuotaUse, "amount">) => Value) => uses.map(read);
  const row = await db.row<{ place: number }>(sql`
    select a.place::integer from unnest(${column(({ name }) => name)}::text[], ${column(({ holder }) => holder)}::text[],
      ${column(({ quota }) => windowEnd(quota, now).toISOString())}::timestamptz[],
      ${column(({ quota }) => quota.most)}::bigint[])
      with ordinality as a (limit_name, holder, ends_at, most, place)
    join quota_uses u using (limit_name, holder, ends_at)
    where u.used >= a.most order by a.place limit 1`);
  return row === undefined ? null : (uses[row.place - 1]?.quota ?? null);
}

/** Gives back what was taken at `takenAt`; does nothing if that window was deleted. */
export async function giveBackQuota(
  tx: Queryable,
  { name, quota, holder, amount = 1 }: QuotaUse,
  takenAt: Date,
): Promise<void> {
  await tx.run(sql`
    update quota_uses set used = greatest(used - ${amount}, 0)
    where limit_name = ${name} and holder = ${holder} and ends_at = ${windowEnd(quota, takenAt)}`);
}

/** The amount that the holder has used in the current window. */
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

/** Deletes up to `most` windows that have ended. @returns how many */
export async function removeEndedQuotas(db: Queryable, now: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from quota_uses where (limit_name, holder, ends_at) in (
      select limit_name, holder, ends_at from quota_uses where ends_at <= ${now} limit ${most})`);
}
