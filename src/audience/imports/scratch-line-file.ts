/** Where the reader of an import file writes lines: a file of the job (LineFile), or a temporary file. */
import type { FileHandle } from "node:fs/promises";
import type { LineFile } from "#platform/jobs/line-file.ts";

export type LineSink = LineFile;

const PART_BYTES = 1024 * 1024;

/** Lines that only this process reads: written to a local file, or discarded. */
export class ScratchLines implements LineSink {
  readonly name = "";
  readonly #file: FileHandle | undefined;
  #gathered: string[] = [];
  #bytes = 0;

  constructor(file?: FileHandle) {
    this.#file = file;
  }

  add(text: string): number {
    const bytes = Buffer.byteLength(text);
    if (this.#file === undefined) return bytes;
    this.#gathered.push(text);
    this.#bytes += bytes;
    return bytes;
  }

  get isFull(): boolean {
    return this.#bytes >= PART_BYTES;
  }

  async flush(): Promise<void> {
    const text = this.#gathered.join("");
    this.#gathered = [];
    this.#bytes = 0;
    await this.#file?.writeFile(text);
  }

  close(): Promise<void> {
    return this.flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
