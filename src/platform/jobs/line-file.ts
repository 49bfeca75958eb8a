/** A file that a job writes line by line: gathered in memory, and in the database part by part. */
import type { FileHandle } from "node:fs/promises";
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { insertPart } from "./file-store.ts";
import { newFileName, PART_BYTES } from "./files.ts";

/** Disposing of it waits for what is being stored: whoever breaks off leaves nothing that comes behind the job's end. */
export interface LineFile extends AsyncDisposable {
  /** Of this run of the job alone: no other one writes to it. Nobody reads it but who is told, when it is closed. */
  readonly name: string;
  /** Adds text; after some thousand lines `flush` is due. Answers the bytes that this text takes. */
  add(text: string): number;
  readonly isFull: boolean;
  /** Waits for what is being stored, and begins with what has been gathered since. */
  flush(): Promise<void>;
  /** Stores the rest and waits for it. */
  close(): Promise<void>;
}

/** No text takes more: a row of a million characters at three bytes each, or the rows of one piece of a file. */
const LONGEST_TEXT = 4 * 1024 * 1024;

/**
 * @param called what who downloads it sees
 * @param copy has all of it on this machine, when it is closed
 */
export function createLineFile(
  db: Database,
  job: { readonly id: string; readonly workspaceId: WorkspaceId },
  called: string,
  copy?: FileHandle,
): LineFile {
  const name = newFileName(called);
  const file = { workspaceId: job.workspaceId, jobId: job.id, name };
  let buffer = Buffer.allocUnsafeSlow(2 * PART_BYTES);
  /** The one that is being stored, or was. */
  let other = Buffer.allocUnsafeSlow(2 * PART_BYTES);
  let used = 0;
  let number = 0;
  let storing: Promise<unknown> = Promise.resolve();

  const beginStoring = async (bytes: number) => {
    await storing;
    if (other.length < buffer.length) other = Buffer.allocUnsafeSlow(buffer.length);
    buffer.copy(other, 0, bytes, used);
    [buffer, other] = [other, buffer];
    used -= bytes;
    const part = other.subarray(0, bytes);
    const at = number++;
    storing = Promise.all([db.transaction((tx) => insertPart(tx, file, at, part)), copy?.writeFile(part)]);
    // Whoever waits for it next hears what went wrong; until then nobody does.
    storing.catch(() => {});
  };
  const flush = async () => {
    while (used >= PART_BYTES) await beginStoring(PART_BYTES);
  };
  return {
    name,
    add(text) {
      const most = text.length * 3;
      if (most > LONGEST_TEXT) throw new Error("a text is too long to be written");
      if (used + most > buffer.length) {
        const larger = Buffer.allocUnsafeSlow(2 * (used + most));
        buffer.copy(larger, 0, 0, used);
        buffer = larger;
      }
      const bytes = buffer.write(text, used);
      used += bytes;
      return bytes;
    },
    get isFull() {
      return used >= PART_BYTES;
    },
    flush,
    async close() {
      await flush();
      if (used > 0 || number === 0) await beginStoring(used);
      await storing;
    },
    async [Symbol.asyncDispose]() {
      await storing.catch(() => {});
    },
  };
}
