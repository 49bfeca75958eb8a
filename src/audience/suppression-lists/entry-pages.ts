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

/** The default, and the most. */
export const ENTRIES_PER_PAGE = 1_000;

/** The last page of a million entries is as fast as the first. @throws ApiError NOT_FOUND */
export async function findEntries(
  db: Queryable,
  anchors: PageAnchors,
  list: EntriesOf,
  search: string | undefined,
  page: Page,
): Promise<{ readonly entries: SuppressionEntry[]; readonly total: number }> {
  const { limit, offset, after } = page;
  const counted = required(await countEntries(db, list), "Suppression list");
  if (search !== undefined && counted.entry_count > 0) {
    return searchEntries(db, list, beginnings(search), page);
  }
  const total = counted.entry_count;
  if (offset >= total) return { entries: [], total };
  if (after !== undefined) return { entries: await listEntriesAfter(db, list, after, limit), total };
  const readAnchors = () => listEntryAnchors(db, list);
  const start = await anchors.find(list.listId, counted.revision, offset, readAnchors);
  return { entries: await listEntriesAt(db, list, start, limit), total };
}

/**
 * The prefixes to search for. Values are stored in lower case, domains in A-labels (RFC 5890) and without a leading @.
 * A text without @ may be the prefix of either.
 */
function beginnings(search: string): string[] {
  const text = search.toLowerCase().normalize("NFC");
  return [...new Set([text, domainInALabels(text)])].map((one) => one.replace(/^@/, ""));
}
