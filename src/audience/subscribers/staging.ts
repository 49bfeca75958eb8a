/**
 * Where an import puts its rows before they go through the door: a table that only its transaction sees. COPY into it,
 * fold what is there twice, and give it to insertMembers, all in one transaction.
 */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "../../platform/database/pool.ts";

/** The relation for Arrivals.people, once it is folded. */
export const staged: Sql = sql`staged_subscribers`;

/** The COPY to fill it: `line` orders the rows, the rest is as Arrivals.people wants it. */
export const copyToStaging =
  "copy staged_subscribers (line, id, email, first_name, last_name, source, status, custom_fields) from stdin";

/** Makes it, for the rest of this transaction. */
export async function createStaging(tx: Queryable): Promise<void> {
  await tx.run(sql`
    create temp table staged_subscribers (
      line bigint not null, id uuid not null, email text collate "C" not null, first_name text, last_name text,
      source text, status text, custom_fields jsonb not null
    ) on commit drop`);
}

/** Of rows with one address the last one stays. @returns how many went */
export async function foldStaging(tx: Queryable): Promise<number> {
  const folded = await tx.run(sql`
    delete from staged_subscribers s using (
      select email, max(line) as line from staged_subscribers group by email having count(*) > 1) last
    where s.email = last.email and s.line <> last.line`);
  return folded;
}
