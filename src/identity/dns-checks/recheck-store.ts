/** SQL of the daily re-check: leases on rows of sending or tracking domains. */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

/** Which domains to lease for a re-check. */
export interface RecheckLease {
  readonly now: Date;
  /** Domains whose last check (or, without one, creation) is not later than this are due. */
  readonly dueBefore: Date;
  readonly most: number;
}

/**
 * Leases due domains by setting `checked_at` to now. Other machines then skip them, and no transaction stays open during
 * the DNS look-ups. If the process dies, the leased domains miss one daily check.
 * @param table has the columns workspace_id, id, checked_at and created_at
 * @param columns of the leased row, as `leased`
 */
export function leaseForRecheck<Row extends object>(
  db: Queryable,
  table: Sql,
  columns: Sql,
  { now, dueBefore, most }: RecheckLease,
): Promise<Row[]> {
  // PostgreSQL may evaluate a subquery of the UPDATE's own condition, and lock its rows, more than once.
  return db.rows(sql`
    with due as materialized (
      select workspace_id, id from ${table}
      where coalesce(checked_at, created_at) <= ${dueBefore}
      order by coalesce(checked_at, created_at)
      limit ${most}
      for update skip locked)
    update ${table} as leased set checked_at = ${now}
    from due where leased.workspace_id = due.workspace_id and leased.id = due.id
    returning ${columns}`);
}
