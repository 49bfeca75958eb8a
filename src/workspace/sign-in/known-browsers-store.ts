/** SQL of browsers from which people have signed in. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

/** A person's browser that is unused for this long is forgotten. */
export const BROWSER_DAYS = 365;
/** Browsers of one person: older ones are forgotten. */
const MOST_OF_USER = 50;

/** Whether the user with the address has signed in from the browser. @param email normalised */
export async function isKnownBrowser(db: Queryable, tokenHash: Buffer, email: string): Promise<boolean> {
  const row = await db.row(sql`
    select from known_browsers b join users u on u.id = b.user_id
    where b.token_hash = ${tokenHash} and u.email = ${email}`);
  return row !== undefined;
}

/** Remembers a browser of the user. @returns whether the user had browsers, and this one was not among them */
export async function noteBrowser(
  tx: Queryable,
  userId: string,
  tokenHash: Buffer,
  now: Date,
): Promise<{ readonly isNew: boolean; readonly isFirst: boolean }> {
  const before = await tx.row<{ known: boolean; some: boolean }>(sql`
    select exists (select from known_browsers where user_id = ${userId} and token_hash = ${tokenHash}) as known,
      exists (select from known_browsers where user_id = ${userId}) as some`);
  await tx.run(sql`
    insert into known_browsers (token_hash, user_id, created_at, seen_at)
    values (${tokenHash}, ${userId}, ${now}, ${now})
    on conflict (token_hash, user_id) do update set seen_at = excluded.seen_at`);
  await tx.run(sql`
    delete from known_browsers where user_id = ${userId} and token_hash in (
      select token_hash from known_browsers where user_id = ${userId}
      order by seen_at desc, token_hash offset ${MOST_OF_USER})`);
  return { isNew: before?.known !== true, isFirst: before?.some !== true };
}

/** Deletes up to `most` browsers that were not used since. @returns how many */
export function removeOldBrowsers(db: Queryable, before: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from known_browsers where (token_hash, user_id) in (
      select token_hash, user_id from known_browsers where seen_at <= ${before} limit ${most})`);
}
