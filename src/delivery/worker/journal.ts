/**
 * Results on disk before the database has them. Each result is appended at once: one write to the page cache, which
 * survives a kill -9. After a crash the next worker on this machine replays the file (recovery.ts), so that a message
 * whose 250 had arrived is not sent again.
 *
 * There is one file per worker, named for its id and pid. Replaying twice is harmless: settlements are fenced by their
 * lease number.
 */
import {
  closeSync,
  createReadStream,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { DeliveryResult } from "#delivery/queue/decide-result.ts";

/** Journals contain recipients' addresses and the replies of their servers. */
const PRIVATE_FOLDER = { recursive: true, mode: 0o700 } as const;
const PRIVATE_FILE = 0o600;

/** The worker that writes a journal. */
export interface JournalOwner {
  readonly workerId: string;
  /** On this machine: journals are not shared between machines. */
  readonly pid: number;
}

/** A full disk is reported and not thrown: the worker keeps such results in memory and starts nothing new. */
export class Journal {
  readonly #file: string;
  #descriptor: number;
  #size = 0;

  constructor(folder: string, owner: JournalOwner) {
    mkdirSync(folder, PRIVATE_FOLDER);
    this.#file = journalFile(folder, owner);
    this.#descriptor = openSync(this.#file, "a", PRIVATE_FILE);
  }

  /** In characters. */
  get size(): number {
    return this.#size;
  }

  /** False when the result could not be written. */
  append(result: DeliveryResult): boolean {
    return this.#write(lineOf(result));
  }

  /** Whether the file can be written (again). If another worker has removed it, an empty one is created. */
  probe(): boolean {
    try {
      if (!existsSync(this.#file)) this.#replaceBy("");
    } catch {
      return false;
    }
    // An empty line is ignored by readers; it also ends a line that a full disk cut short.
    return this.#write("\n");
  }

  /**
   * Removes all results but these: the database has the others.
   *
   * @throws the error of the file system; the journal is then unchanged
   */
  keepOnly(results: readonly DeliveryResult[]): void {
    if (this.#size === 0) return;
    const text = results.map(lineOf).join("");
    if (text === "") ftruncateSync(this.#descriptor);
    else this.#replaceBy(text);
    this.#size = text.length;
  }

  /** Closes and deletes the file, after a clean stop. */
  remove(): void {
    // A later `keepOnly` does nothing: the descriptor's number may soon be another file's.
    this.#size = 0;
    closeSync(this.#descriptor);
    rmSync(this.#file, { force: true });
  }

  #write(text: string): boolean {
    try {
      // Unlike writeSync it writes everything, and a short write cannot join two lines.
      writeFileSync(this.#descriptor, text);
      this.#size += text.length;
      return true;
    } catch {
      return false;
    }
  }

  /** Opens the new file before it closes the old one: whatever fails in between, one of them can be written. */
  #replaceBy(text: string): void {
    const shorter = `${this.#file}.new`;
    // A kill may have left one.
    rmSync(shorter, { force: true });
    const next = openSync(shorter, "a", PRIVATE_FILE);
    try {
      writeFileSync(next, text);
      renameSync(shorter, this.#file);
    } catch (error) {
      closeSync(next);
      rmSync(shorter, { force: true });
      throw error;
    }
    const last = this.#descriptor;
    this.#descriptor = next;
    closeSync(last);
  }
}

/** The workers that have a journal in this folder, alive or dead. */
export function listJournals(folder: string): JournalOwner[] {
  mkdirSync(folder, PRIVATE_FOLDER);
  return readdirSync(folder).flatMap((name) => {
    const [, workerId, pid] = /^([0-9a-f-]+)\.(\d+)\.jsonl$/.exec(name) ?? [];
    return workerId === undefined ? [] : [{ workerId, pid: Number(pid) }];
  });
}

export function hasJournal(folder: string, owner: JournalOwner): boolean {
  return existsSync(journalFile(folder, owner));
}

/** Milliseconds since the last write to a journal that is not empty; 0 when it is empty or missing. */
export function journalSilence(folder: string, owner: JournalOwner): number {
  const stats = statSync(journalFile(folder, owner), { throwIfNoEntry: false });
  return stats === undefined || stats.size === 0 ? 0 : Date.now() - stats.mtimeMs;
}

/** The results of one journal. A line cut short by a kill is skipped: its message counts as not sent. */
export async function* readJournal(folder: string, owner: JournalOwner): AsyncGenerator<DeliveryResult> {
  for await (const line of linesOf(createReadStream(journalFile(folder, owner), "utf8"))) {
    try {
      yield JSON.parse(line, reviveDate) as DeliveryResult;
    } catch {
      // A kill cut the line short.
    }
  }
}

export function removeJournal(folder: string, owner: JournalOwner): void {
  rmSync(journalFile(folder, owner), { force: true });
}

function journalFile(folder: string, { workerId, pid }: JournalOwner): string {
  return join(folder, `${workerId}.${pid}.jsonl`);
}

/** Splits at line feeds only: Node's readline also splits at U+2028, which a gateway may put into its answer. */
async function* linesOf(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of text) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  yield rest;
}

/** Times are written in milliseconds: serializing Date objects takes three times as long. */
function lineOf({ settlement, outcome, ...rest }: DeliveryResult): string {
  const { dueAt, decidedAt, firstAttemptAt } = settlement;
  const written = outcome && {
    ...outcome,
    time: outcome.time.getTime(),
    nextAttemptAt: outcome.nextAttemptAt?.getTime() ?? null,
  };
  const times = {
    dueAt: dueAt?.getTime() ?? null,
    decidedAt: decidedAt.getTime(),
    firstAttemptAt: firstAttemptAt?.getTime(),
  };
  const line = { settlement: { ...settlement, ...times }, outcome: written, ...rest };
  return `${JSON.stringify(line)}\n`;
}

const TIMES = new Set(["time", "dueAt", "decidedAt", "firstAttemptAt", "nextAttemptAt"]);

function reviveDate(key: string, value: unknown): unknown {
  return TIMES.has(key) && typeof value === "number" ? new Date(value) : value;
}
