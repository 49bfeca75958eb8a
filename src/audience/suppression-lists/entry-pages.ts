/** Pages of the entries of a suppression list, newest first. */

import { domainInALabels } from "#mail/address.ts";
import type { Page } from "#platform/database/page.ts";
import type { PageAnchors } from "#platform/database/page-anchors.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { required } from "#platform/errors.ts";
import {
  countEntries,
  type EntriesOf,
  listEntriesAfter,
  listEntriesAt,
  listEntryAnchors,
  searchEntries,
} from "./entry-store.ts";
import type { SuppressionEntry } from "./suppression-list.ts";

export const ENTRIES_PER_PAGE = 1_000;

/** The last page of a million entries is as fast as the first. @throws ApiError NOT_FOUND */
export async function findEntries(
  db: Queryable,
  anchors: PageAnchors,
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
  const readAnchors = () => listEntryAnchors(db, list);
  const start = await anchors.find(list.listId, counted.revision, offset, readAnchors);
  return listEntriesAt(db, list, start, limit);
}

/**
 * The prefixes to search for. Values are stored in lower case, domains in A-labels (RFC 5890) and without a leading @.
 * A text without @ may be the prefix of either.
 */
function beginnings(search: string): string[] {
  const text = search.toLowerCase().normalize("NFC");
  return [...new Set([text, domainInALabels(text)])].map((one) => one.replace(/^@/, ""));
}
