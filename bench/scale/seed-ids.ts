/** Ids that are computed from numbers, so that neither side has to look them up: version 7, as the service makes them. */
import sql, { type Sql } from "sql-template-tag";
import { asWorkspaceId, type WorkspaceId } from "#platform/ids.ts";

/** The id of a time and a number. */
export function seedId(ms: number, number: number): string {
  const hex = `${hexOf(ms, 12)}70008${hexOf(number, 15)}`;
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

const hexOf = (value: number, digits: number) => value.toString(16).padStart(digits, "0");

/** The same in SQL, of bigints. */
export const seedIdSql = (ms: Sql, number: Sql): Sql =>
  sql`(lpad(to_hex(${ms}), 12, '0') || '70008' || lpad(to_hex(${number}), 15, '0'))::uuid`;

/** When the first workspace was created, and the time between two workspaces. */
const BEGAN_MS = Date.UTC(2026, 0, 1);
const STEP_MS = 10_000;
/** Each workspace has one of these. They are created one after the other. */
const offsets = { workspace: 0, list: 1, campaign: 2, webhook: 3 } as const;
type OnePerWorkspace = keyof typeof offsets;

/** The id of a workspace's list, campaign or webhook, or its own. @param number the workspace's number, from 0 */
export const idOf = (what: OnePerWorkspace, number: number): string =>
  seedId(BEGAN_MS + offsets[what] + number * STEP_MS, number);

export const idOfSql = (what: OnePerWorkspace, number: Sql): Sql =>
  seedIdSql(sql`(${BEGAN_MS + offsets[what]}::bigint + ${number} * ${STEP_MS})`, number);

export const workspaceAt = (number: number): WorkspaceId => asWorkspaceId(idOf("workspace", number));

const PEOPLE_MS = Date.UTC(2026, 5, 1);

/** The id of a person. @param number the person's number in the installation, from 0 */
export const personId = (number: number): string => seedId(PEOPLE_MS, number);

export const personIdSql = (number: Sql): Sql => seedIdSql(sql`${PEOPLE_MS}::bigint`, number);
