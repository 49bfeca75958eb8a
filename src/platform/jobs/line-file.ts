/** A file that a job writes line by line: collected in memory, and stored in the database in parts. */
import type { FileHandle } from "node:fs/promises";
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type FileKey, insertPart } from "./file-store.ts";
import { newFileName, PART_BYTES } from "./files.ts";

/** Disposing of it waits for the part that is being stored, so that nothing is written after the end of the job. */
export interface LineFile extends AsyncDisposable {
  /**
   * Unique to this run of the job: no other run writes to it. It can be read only once it is closed and the job names
   * it.
   */
  readonly name: string;
  /** Adds text and gives its length in bytes. Call `flush` when `isFull`. */
  add(text: string): number;
  readonly isFull: boolean;
  /** Starts storing the collected text; waits only for the part before. */
  flush(): Promise<void>;
  /** Stores the rest and waits for it. */
  close(): Promise<void>;
}

/** Bytes; enough for a row of a million characters at three bytes each, or for the rows of one chunk of a file. */
const LONGEST_TEXT = 4 * 1024 * 1024;

/** Two buffers: one collects text while the other is being stored. */
export class JobLineFile implements LineFile {
  readonly #db: Database;
  readonly #key: FileKey;
  readonly #copy: FileHandle | undefined;
  #buffer = Buffer.allocUnsafeSlow(2 * PART_BYTES);
  /** Being stored, or free. */
  #other = Buffer.allocUnsafeSlow(2 * PART_BYTES);
  /** Bytes of `#buffer` that are filled. */
  #used = 0;
  /** Number of the next part. */
  #part = 0;
  #storing: Promise<unknown> = Promise.resolve();

  /**
   * @param downloadName the file name that a person who downloads it sees
   * @param copy a local file that gets the same text
   */
  constructor(
    db: Database,
    job: { readonly id: string; readonly workspaceId: WorkspaceId },
    downloadName: string,
    copy?: FileHandle,
  ) {
    this.#db = db;
    this.#key = { workspaceId: job.workspaceId, jobId: job.id, name: newFileName(downloadName) };
    this.#copy = copy;
  }

  get name(): string {
    return this.#key.name;
  }

  get isFull(): boolean {
    return this.#used >= PART_BYTES;
  }

  add(text: string): number {
    const most = text.length * 3;
    if (most > LONGEST_TEXT)
      throw new Error(`a text of ${text.length} characters is too long for a line file`);
    if (this.#used + most > this.#buffer.length) this.#grow(2 * (this.#used + most));
    const bytes = this.#buffer.write(text, this.#used);
    this.#used += bytes;
    return bytes;
  }

  async flush(): Promise<void> {
    while (this.#used >= PART_BYTES) await this.#beginStoring(PART_BYTES);
  }

  async close(): Promise<void> {
    await this.flush();
    if (this.#used > 0 || this.#part === 0) await this.#beginStoring(this.#used);
    await this.#storing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#storing.catch(() => {});
  }

  #grow(size: number): void {
    const larger = Buffer.allocUnsafeSlow(size);
    this.#buffer.copy(larger, 0, 0, this.#used);
    this.#buffer = larger;
  }

  /** Stores the first bytes of the buffer in the background, and moves the rest to the other buffer. */
  async #beginStoring(bytes: number): Promise<void> {
    await this.#storing;
    if (this.#other.length < this.#buffer.length) this.#other = Buffer.allocUnsafeSlow(this.#buffer.length);
    this.#buffer.copy(this.#other, 0, bytes, this.#used);
    [this.#buffer, this.#other] = [this.#other, this.#buffer];
    this.#used -= bytes;
    const octets = this.#other.subarray(0, bytes);
    const number = this.#part++;
    this.#storing = Promise.all([
      this.#db.transaction((tx) => insertPart(tx, this.#key, number, octets)),
      this.#copy?.writeFile(octets),
    ]);
    // The next call that waits for it gets the error; without this, it would be an unhandled rejection until then.
    this.#storing.catch(() => {});
  }
}
