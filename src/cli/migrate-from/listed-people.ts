/**
 * Counts the people of a list by status. If a person is in several rows, the last one counts, with the worst status of all,
 * as in an import. Memory holds some 50 bytes a row.
 */
import { LastRows } from "#audience/imports/duplicate-rows.ts";
import { worse } from "#audience/imports/opt-outs/read-cell.ts";
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";
import type { SpooledPerson } from "./intake.ts";

/** An earlier row of the same person. */
type ReplacedRow = Pick<SpooledPerson, "row">;

export class ListedPeople {
  readonly counts: Record<SubscriberStatus, number> = {
    active: 0,
    unsubscribed: 0,
    bounced: 0,
    complained: 0,
  };
  readonly #lastRows: LastRows;
  /** Of each row. */
  readonly #statuses: SubscriberStatus[] = [];
  /** Of each row in its file; 0 for none. */
  readonly #lines: number[] = [];
  /** The rows of a file follow each other. */
  readonly #files: { readonly name: string; readonly firstRow: number }[] = [];

  /** @param rows of the list */
  constructor(rows: number) {
    this.#lastRows = new LastRows(rows);
  }

  /** @returns the status of the person, and the row that this one replaces */
  add(
    { email, row }: Pick<SpooledPerson, "email" | "row">,
    ownStatus: SubscriberStatus,
  ): { readonly status: SubscriberStatus; readonly replaced: ReplacedRow | undefined } {
    const number = this.#statuses.length;
    const before = this.#lastRows.note(email, number);
    const statusBefore = (before === undefined ? undefined : this.#statuses[before]) ?? null;
    const status = worse(ownStatus, statusBefore);
    this.#statuses.push(status);
    this.#lines.push(row?.line ?? 0);
    if (row !== undefined && row.file !== this.#files.at(-1)?.name) {
      this.#files.push({ name: row.file, firstRow: number });
    }
    this.counts[status]++;
    if (statusBefore !== null) this.counts[statusBefore]--;
    return { status, replaced: before === undefined ? undefined : this.#replaced(before) };
  }

  #replaced(number: number): ReplacedRow {
    const file = this.#files.findLast(({ firstRow }) => firstRow <= number)?.name;
    const line = this.#lines[number] ?? 0;
    return file === undefined || line === 0 ? {} : { row: { file, line } };
  }
}
