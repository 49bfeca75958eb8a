/** The host names of addresses that DMARC reports name as sources of mail. */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

/** The part of a statement that notes addresses. @param addresses a select of at most some hundred, each once */
export const noteSourcesSql = (addresses: Sql, now: Date): Sql => sql`
  insert into source_hosts as h (ip, seen_at, due_at)
  select ip, ${now}, ${now} from (${addresses}) noted order by ip
  on conflict (ip) do update set seen_at = excluded.seen_at where h.seen_at < excluded.seen_at - interval '1 day'`;

/** Addresses that are due for a look-up, and were seen since a time. */
export async function listDueSources(
  db: Queryable,
  { now, seenSince, most }: { readonly now: Date; readonly seenSince: Date; readonly most: number },
): Promise<string[]> {
  const rows = await db.rows<{ ip: string }>(sql`
    select host(ip) as ip from source_hosts where due_at <= ${now} and seen_at >= ${seenSince}
    order by due_at limit ${most}`);
  return rows.map(({ ip }) => ip);
}

export interface FoundHost {
  readonly ip: string;
  /** Null if no name leads back; undefined if the DNS gave no answer: the name found before stays. */
  readonly host: string | null | undefined;
  readonly dueAt: Date;
}

export async function saveSourceHosts(db: Queryable, found: readonly FoundHost[]): Promise<void> {
  if (found.length === 0) return;
  await db.run(sql`
    update source_hosts h set host = case when f.is_known then f.host else h.host end, due_at = f.due_at
    from unnest(${found.map(({ ip }) => ip)}::inet[], ${found.map(({ host }) => host ?? null)}::text[],
      ${found.map(({ host }) => host !== undefined)}::boolean[], ${found.map(({ dueAt }) => dueAt)}::timestamptz[])
      as f (ip, host, is_known, due_at)
    where h.ip = f.ip`);
}

/** Removes up to `most` addresses that were not seen since a time. @returns how many */
export function removeOldSources(db: Queryable, before: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from source_hosts where ctid = any (array(
      select ctid from source_hosts where seen_at < ${before} limit ${most}))`);
}
