/** Adds entries to a suppression list from a text, one entry a line. */
import type { Database } from "#platform/database/pool.ts";
import { invalid } from "#platform/errors.ts";
import { shortenedText } from "#platform/shorten.ts";
import { requireRows, rowLimit, type StorageDeps } from "#workspace/billing/storage-limit.ts";
import { type EntriesOf, insertEntries, refreshStatistics } from "./entry-store.ts";
import { type EntryValue, readEntryValue, splitEntries, unquoted, wildcardHint } from "./entry-value.ts";
import { lockSuppressionList } from "./store.ts";
import type { AddedEntries } from "./suppression-list.ts";

const MOST_ITEMS = 10_000;

/**
 * Adds the valid items and counts the rest: added + duplicates + invalid is the number of items that are not blank.
 * @throws ApiError NOT_FOUND; PLAN_LIMIT_REACHED; VALIDATION_ERROR for more than 10,000 items, and when none is valid
 */
export async function addEntries(
  deps: StorageDeps & { readonly db: Database },
  list: EntriesOf,
  text: string,
  createdBy: string,
): Promise<AddedEntries> {
  const { db, clock } = deps;
  const items = splitEntries(text, MOST_ITEMS);
  if (items === undefined) {
    const message = `entries must be at most ${MOST_ITEMS}, and there are more: import a file instead`;
    throw invalid({ field: "entries", message });
  }
  const tally = new EntryTally();
  for (const item of items) tally.read(item);
  if (tally.isEmpty) throw invalid({ field: "entries", message: `entries holds ${tally.nothing}` });
  return db.transaction(async (tx) => {
    const limit = await rowLimit(deps, tx, list.workspaceId, "suppression_entries");
    await lockSuppressionList(tx, list.workspaceId, list.listId);
    tally.added = await insertEntries(tx, list, tally.takeValues(), { createdBy, createdAt: clock.now() });
    await requireRows(tx, list.workspaceId, limit, tally.added);
    await refreshStatistics(tx, tally.added);
    return tally.result();
  });
}

const MOST_NAMED = 5;
const LONGEST_NAMED = 60;

/** Counts the items given, and collects the distinct values among them. */
export class EntryTally {
  added = 0;
  #given = 0;
  #invalid = 0;
  readonly #named: string[] = [];
  readonly #values = new Map<string, EntryValue>();

  /** Reads one item; a blank item is ignored. */
  read(text: string): void {
    const item = unquoted(text);
    if (item === "") return;
    this.#given += 1;
    const value = readEntryValue(item);
    if (value === undefined) this.#refuse(item);
    else if (!this.#values.has(value.normalized)) this.#values.set(value.normalized, value);
  }

  /** Counts an item that cannot be decoded. */
  refuse(item: string): void {
    this.#given += 1;
    this.#refuse(item);
  }

  #refuse(item: string): void {
    if (this.#invalid++ < MOST_NAMED)
      this.#named.push(shortenedText(item, LONGEST_NAMED) + wildcardHint(shortenedText(item, LONGEST_NAMED)));
  }

  /** True when no valid item was given. */
  get isEmpty(): boolean {
    return this.#given === this.#invalid;
  }

  /** The end of the error message when no valid item was given. */
  get nothing(): string {
    const sentence = "no address and no domain";
    return this.#invalid > 0 ? `${sentence}: ${this.#invalidNamed()}` : sentence;
  }

  /** The number of distinct values read since the last call of takeValues. */
  get waiting(): number {
    return this.#values.size;
  }

  /** The distinct values read since the last call. */
  takeValues(): EntryValue[] {
    const values = [...this.#values.values()];
    this.#values.clear();
    return values;
  }

  result(): AddedEntries {
    const { added } = this;
    const [invalid, duplicates] = [this.#invalid, this.#given - this.#invalid - added];
    const parts = [
      `${added} added`,
      duplicates > 0 && `${duplicates} duplicate${duplicates === 1 ? "" : "s"}`,
      invalid > 0 && `${invalid} invalid: ${this.#invalidNamed()}`,
    ];
    return { added, duplicates, invalid, message: parts.filter((part) => part !== false).join(", ") };
  }

  #invalidNamed(): string {
    return this.#named.join(", ") + (this.#invalid > this.#named.length ? ", …" : "");
  }
}
