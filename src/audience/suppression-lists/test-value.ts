/** Asking one list about one value: the judge's own answer, as a message in the list's scope would get it. */
import type { Static } from "typebox";
import { domainOf } from "#mail/address.ts";
import type { Database } from "#platform/database/pool.ts";
import { invalid, notFound } from "#platform/errors.ts";
import type { EntriesOf } from "./entry-store.ts";
import { readEntryValue, wildcardHint } from "./entry-value.ts";
import { checkOneList } from "./suppression-check.ts";
import type { SuppressionTest } from "./suppression-list.ts";

/** @throws ApiError VALIDATION_ERROR for what is neither an address nor a domain, NOT_FOUND */
export async function testValue(
  db: Database,
  { workspaceId, listId }: EntriesOf,
  text: string,
): Promise<Static<typeof SuppressionTest>> {
  const value = readEntryValue(text);
  if (value === undefined) {
    const message = `test_value must be an address or a domain${wildcardHint(text)}`;
    throw invalid({ field: "test_value", message });
  }
  const { normalized: address } = value;
  const verdict = await checkOneList(db, { workspaceId, address, domain: domainOf(address) }, listId);
  if (verdict === undefined) throw notFound("Suppression list");
  return { suppressed: verdict.reason !== null, test_value: text, ...verdict };
}
