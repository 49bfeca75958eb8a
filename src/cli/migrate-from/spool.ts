/** Files of lines of JSON in a folder: what was read and is not written yet, so that memory does not grow with it. */
import { createReadStream } from "node:fs";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** Text of one file that waits to be appended. A source may have a thousand lists. */
const MOST_WAITING = 64 * 1024;

export class Spool<Line> {
  readonly #path: string;
  #waiting = "";
  /** Number of lines. */
  count = 0;

  /** @param name of the file in the folder */
  constructor(folder: string, name: string) {
    this.#path = join(folder, `${name}.jsonl`);
  }

  async add(line: Line): Promise<void> {
    // The reader takes these two characters as line ends.
    const text = JSON.stringify(line).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
    this.#waiting += `${text}\n`;
    this.count++;
    if (this.#waiting.length >= MOST_WAITING) await this.#flush();
  }

  /** All lines, in the order in which they were added. */
  async *lines(): AsyncGenerator<Line, void, undefined> {
    if (this.count === 0) return;
    await this.#flush();
    const input = createReadStream(this.#path, "utf8");
    try {
      for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
        yield JSON.parse(text) as Line;
      }
    } finally {
      input.destroy();
    }
  }

  async #flush(): Promise<void> {
    const text = this.#waiting;
    this.#waiting = "";
    await appendFile(this.#path, text);
  }
}
