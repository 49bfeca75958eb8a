/**
 * Writes the people of an import file in the format of the staging table, in batches. If a person is in the file
 * several times, the last row counts, with the worst status of all. Memory holds 17 bytes a row.
 */

import { stagedLine } from "#audience/subscribers/memberships/staging-table.ts";
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";
import { newIdSeries } from "#platform/ids.ts";
import { LastRows } from "./duplicate-rows.ts";
import type { Batch } from "./import-plan.ts";
import { order, rank, worse } from "./opt-outs/read-cell.ts";
import type { ImportedPerson } from "./row-reader.ts";
import type { LineSink } from "./scratch-line-file.ts";

export const MOST_ROWS = 1_000_000;
/** People that one transaction writes: half a second, during which others may wait for one of them. */
export const BATCH_LINES = 20_000;

export class PeopleFile {
  readonly #file: LineSink;
  readonly #nextId = newIdSeries();
  readonly #lastRows: LastRows;
  readonly #replaced = new Map<number, number[]>();
  /** The rank of the status of each row. */
  readonly #ranks = new Uint8Array(MOST_ROWS);
  readonly #batches: Omit<Batch, "replaced">[] = [];
  #offset = 0;
  #bytes = 0;
  #lines = 0;
  /** Lines of the current piece: writing each line alone would take as long as making it. */
  #gathered = "";
  duplicates = 0;

  /** @param expected number of people for which the table of rows need not grow */
  constructor(file: LineSink, expected: number) {
    this.#file = file;
    this.#lastRows = new LastRows(Math.min(MOST_ROWS, expected));
  }

  get name(): string {
    return this.#file.name;
  }

  add(person: ImportedPerson): void {
    const line = this.#lines;
    const before = this.#lastRows.note(person.email, line);
    // A person who opted out in one row has opted out, whatever the last row says.
    const status = worse(person.status, this.#statusOf(before));
    this.#ranks[line] = rank(status);
    if (before !== undefined) this.#replace(before);
    this.#gathered += stagedLine(line % BATCH_LINES, this.#nextId(), { ...person, status });
    this.#lines++;
    if (this.#lines % BATCH_LINES === 0) this.#endBatch();
  }

  #statusOf(line: number | undefined): SubscriberStatus | null {
    return order[(line === undefined ? 0 : this.#ranks[line]) ?? 0] ?? null;
  }

  #replace(line: number): void {
    this.duplicates++;
    const batch = Math.floor(line / BATCH_LINES);
    const places = this.#replaced.get(batch) ?? [];
    places.push(line % BATCH_LINES);
    this.#replaced.set(batch, places);
  }

  #write(): void {
    this.#bytes += this.#file.add(this.#gathered);
    this.#gathered = "";
  }

  #endBatch(): void {
    this.#write();
    if (this.#lines % BATCH_LINES === 0 && this.#bytes === 0) return;
    const lines = this.#lines - this.#batches.length * BATCH_LINES;
    this.#batches.push({ offset: this.#offset, bytes: this.#bytes, lines });
    this.#offset += this.#bytes;
    this.#bytes = 0;
  }

  /** To be called after each piece of the import file. */
  async flush(): Promise<void> {
    this.#write();
    if (this.#file.isFull) await this.#file.flush();
  }

  async close(): Promise<Batch[]> {
    this.#endBatch();
    await this.#file.close();
    return this.#batches.map((batch, at) => ({ ...batch, replaced: this.#replaced.get(at) ?? [] }));
  }
}
