/** Who of an audience has no telephone number that an SMS can be sent to. */
import type { CountryCode } from "libphonenumber-js";
import type { Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { listNumbers } from "./numbers-store.ts";
import { fieldKey, readPhoneNumber } from "./phone-number.ts";

/** Ids among the people of a relation. */
export async function findUnreachable(
  db: Queryable,
  workspaceId: WorkspaceId,
  people: Sql,
  phone: { readonly fieldName: string; readonly country: CountryCode | null },
): Promise<string[]> {
  const found = await listNumbers(db, workspaceId, people, fieldKey(phone.fieldName));
  return found.flatMap(({ id, number }) => (readPhoneNumber(number, phone.country) === null ? [id] : []));
}
