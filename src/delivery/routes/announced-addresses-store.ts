/** SQL of the table of source addresses that delivery machines have. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

/** Announces the addresses of this machine, and deletes those that no machine has announced for a day. */
export async function announceAddresses(db: Queryable, addresses: readonly string[]): Promise<void> {
  await db.run(sql`
    with gone as (delete from delivery_addresses where seen_at < now() - interval '1 day' and ip <> all (${addresses}::inet[]))
    insert into delivery_addresses (ip, seen_at)
    select ip, now() from unnest(${addresses}::inet[]) as ip order by ip
    on conflict (ip) do update set seen_at = excluded.seen_at`);
}

/** The addresses that any machine has announced within the last `seconds`. */
export async function listAnnouncedAddresses(db: Queryable, seconds: number): Promise<string[]> {
  const rows = await db.rows<{ ip: string }>(sql`
    select host(ip) as ip from delivery_addresses where seen_at > now() - make_interval(secs => ${seconds})`);
  return rows.map(({ ip }) => ip);
}
