/** Reads the telephone numbers of an audience from a custom field. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { CountryCode } from "libphonenumber-js";
import sql, { type Sql } from "sql-template-tag";
import { bounded } from "#audience/segments/members-store.ts";
import { withWorkspace } from "#audience/subscribers/memberships/planner-hints.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { fieldKey, readPhoneNumber } from "./phone-number.ts";

/** About ten milliseconds of work, after which others have their turn. */
const READ_AT_ONCE = 500;

/**
 * The ids of those `people` (a relation with the column id) whose field holds no valid telephone number.
 * @param phone `country` is the country of numbers without a country code; null: such numbers are invalid
 */
export async function findUnreachable(
  db: Queryable,
  workspaceId: WorkspaceId,
  people: Sql,
  { fieldName, country }: { readonly fieldName: string; readonly country: CountryCode | null },
): Promise<string[]> {
  const found = await listNumbers(db, workspaceId, people, fieldKey(fieldName));
  const unreachable: string[] = [];
  for (const [index, { id, number }] of found.entries()) {
    if (index % READ_AT_ONCE === READ_AT_ONCE - 1) await nextTurn();
    if (readPhoneNumber(number, country) === null) unreachable.push(id);
  }
  return unreachable;
}

/** The field's value as text for each of `people`; null where it is not set. */
function listNumbers(
  db: Queryable,
  workspaceId: WorkspaceId,
  people: Sql,
  field: string,
): Promise<{ readonly id: string; readonly number: string | null }[]> {
  return db.rows(
    bounded(sql`
      select s.id, s.custom_fields ->> ${field} as number
      from (${withWorkspace(workspaceId, sql`${people} p`)}) p cross join lateral (
        select id, custom_fields from subscribers where workspace_id = p.workspace and id = p.id offset 0) s`),
  );
}

/**
 * Looks for valid numbers among the first `looks` people of a relation, in at most `most` non-empty values.
 * @returns `numbered`: a relation with the ids of people with a valid number, null when there is none; `found`: the number
 * of non-empty values
 */
export async function listNumbered(
  db: Queryable,
  workspaceId: WorkspaceId,
  people: Sql,
  field: string,
  {
    looks,
    most,
    isNumber,
  }: { readonly looks: number; readonly most: number; readonly isNumber: (text: string) => boolean },
): Promise<{ readonly found: number; readonly numbered: Sql | null }> {
  const first = sql`(select id from ${people} a limit ${looks})`;
  const rows = await db.rows<{ readonly id: string; readonly number: string }>(
    bounded(sql`
      select s.id, s.number from (${withWorkspace(workspaceId, sql`${first} p`)}) p cross join lateral (
        select id, custom_fields ->> ${field} as number from subscribers
        where workspace_id = p.workspace and id = p.id offset 0) s
      where s.number <> '' limit ${most}`),
  );
  const ids = rows.flatMap(({ id, number }) => (isNumber(number) ? [id] : []));
  return {
    found: rows.length,
    numbered: ids.length === 0 ? null : sql`(select unnest(${ids}::uuid[]) as id)`,
  };
}
