/** Pages of a list's entries, newest first. */

import { domainInALabels } from "#mail/address.ts";
import type { Page } from "#platform/database/page.ts";
import type { Positions } from "#platform/database/page-anchors.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { required } from "#platform/errors.ts";
import {
  countEntries,
  type EntriesOf,
  listEntriesAfter,
  listEntriesAt,
  listEntryLandmarks,
  searchEntries,
} from "./entry-store.ts";
import type { SuppressionEntry } from "./suppression-list.ts";

/** Entries on a page (contract, section 9). */
export const ENTRIES_PER_PAGE = 1_000;

/** A page is as quick at the end of a million as at the beginning. @throws ApiError NOT_FOUND */
export async function findEntries(
  db: Queryable,
  positions: Positions,
  list: EntriesOf,
  search: string | undefined,
  page: Page,
): Promise<SuppressionEntry[]> {
  const { limit, offset, after } = page;
  const counted = required(await countEntries(db, list), "Suppression list");
  if (offset >= counted.entry_count) return [];
  if (search !== undefined) {
    return searchEntries(db, list, beginnings(search), page);
  }
  if (after !== undefined) return listEntriesAfter(db, list, after, limit);
  const landmarks = () => listEntryLandmarks(db, list);
  const position = await positions.find(list.listId, counted.revision, offset, landmarks);
  return listEntriesAt(db, list, position, limit);
}

/**
 * Values are stored in lower case, domains in A-labels and without the @ that people write before them. A text that has
 * none may be the beginning of either.
 */
function beginnings(search: string): string[] {
  const text = search.toLowerCase().normalize("NFC");
  return [...new Set([text, domainInALabels(text)])].map((one) => one.replace(/^@/, ""));
}
