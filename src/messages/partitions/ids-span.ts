/**
 * Conditions on ids by which PostgreSQL opens only the days of the message log that a statement needs. Beside a join with
 * the ids they change no result; but the values of a join are not known before the statement runs, and PostgreSQL would
 * plan, lock and open every day.
 */
import sql, { type Sql } from "sql-template-tag";
import { firstIdAt, nilId, timeOfId } from "#platform/ids.ts";
import { DAY_MS } from "#platform/time-units.ts";

/** The ids of messages and of their submission are generated within one request, which takes minutes at most. */
const SUBMISSION_MS = DAY_MS;

/**
 * The column is not below the lowest of the ids, and not above the highest. Begins with `and`.
 * @param column the key of a partitioned table
 */
export function inSpanOfSql(column: Sql, ids: readonly string[]): Sql {
  const { lowest, highest } = spanOf(ids);
  return sql`and ${column} between ${lowest} and ${highest}`;
}

/**
 * The column is within the span of the submissions that messages with these ids may have. Begins with `and`.
 * @param column the key of submissions
 */
export function submissionsOfSql(column: Sql, ids: readonly string[]): Sql {
  const { lowest, highest } = spanOf(ids);
  const to = new Date(timeOfId(highest).getTime() + SUBMISSION_MS);
  return sql`and ${column} >= ${lowestSubmissionOf(lowest)} and ${column} < ${firstIdAt(to)}`;
}

/** No submission of the message with this id, or of a later one, has a lower id. */
export function lowestSubmissionOf(id: string): string {
  return firstIdAt(new Date(Math.max(0, timeOfId(id).getTime() - SUBMISSION_MS)));
}

function spanOf(ids: readonly string[]): { readonly lowest: string; readonly highest: string } {
  const [first = nilId, ...others] = ids;
  let [lowest, highest] = [first, first];
  for (const id of others) {
    if (id < lowest) lowest = id;
    if (id > highest) highest = id;
  }
  return { lowest, highest };
}
