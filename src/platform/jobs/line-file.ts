/** A file that a job writes line by line: gathered in memory, and on the disk when it is closed. */
import { type FileHandle, open } from "node:fs/promises";

export interface LineFile {
  /** Adds text; after some thousand lines `flush` is due. Answers the bytes that this text takes. */
  add(text: string): number;
  readonly isFull: boolean;
  flush(): Promise<void>;
  /** Writes the rest and waits for the disk to have it. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const FULL_BYTES = 256 * 1024;
/** No text takes more: a row of a million characters at three bytes each, or the rows of one piece of a file. */
const LONGEST_TEXT = 4 * 1024 * 1024;

/** Makes the file, which must not be there yet. */
export async function createLineFile(path: string): Promise<LineFile> {
  const file: FileHandle = await open(path, "wx", 0o600);
  let buffer = Buffer.allocUnsafe(2 * FULL_BYTES);
  let used = 0;
  let isOpen = true;

  const flush = async () => {
    await file.writeFile(buffer.subarray(0, used));
    used = 0;
  };
  return {
    add(text) {
      const most = text.length * 3;
      if (most > LONGEST_TEXT) throw new Error("a text is too long to be written");
      if (used + most > buffer.length) {
        const larger = Buffer.allocUnsafe(2 * (used + most));
        buffer.copy(larger, 0, 0, used);
        buffer = larger;
      }
      const bytes = buffer.write(text, used);
      used += bytes;
      return bytes;
    },
    get isFull() {
      return used >= FULL_BYTES;
    },
    flush,
    async close() {
      await flush();
      await file.sync();
      await file.close();
      isOpen = false;
    },
    async [Symbol.asyncDispose]() {
      if (isOpen) await file.close();
    },
  };
}
