/** What `backup` and `restore` show of their work. */
import type { Output } from "#cli/command/output.ts";
import { counted } from "#platform/count-phrase.ts";
import type { TableProgress } from "#platform/database/backup/dump-database.ts";
import type { Deadlines } from "#platform/database/pool.ts";
import { bytesText } from "#platform/limits/limit-errors.ts";
import { shortFingerprint } from "#platform/secrets/secrets.ts";

/** A large table takes minutes. */
export const NO_DEADLINES: Partial<Deadlines> = { statementMs: 0, answerMs: 0, idleTransactionMs: 0 };

/** @param fingerprints in hexadecimal */
export function keyNames(fingerprints: readonly string[]): string {
  return fingerprints.map((one) => shortFingerprint(Buffer.from(one, "hex"))).join(", ");
}

/** One line for each table, at a terminal only. */
export class TableLines {
  readonly #stderr: Output;

  constructor(stderr: Output) {
    this.#stderr = stderr;
  }

  /** @param bytes of the whole backup up to now, if they are known */
  write({ table, rows }: TableProgress, bytes?: number): void {
    const size = bytes === undefined ? "" : `  ${bytesText(bytes)}`;
    this.note(`${table.padEnd(32)}  ${counted(rows, "row")}${size}`);
  }

  note(text: string): void {
    if (this.#stderr.isTTY) this.#stderr.write(`${text}\n`);
  }
}
