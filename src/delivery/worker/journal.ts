/**
 * What a worker learned, on disk before the database knows it. Each conclusion is appended as it comes (one write
 * to the page cache, which survives a kill -9); after a crash the next worker on this machine replays the file, so
 * that a message whose 250 had arrived is not sent again.
 *
 * One file a worker, named for its id and its process (recovery.ts says when that is dead). Replaying twice is
 * harmless: settlements are fenced by their lease number.
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
import type { DeliveryResult } from "#delivery/queue/delivery-result.ts";

/** Journals hold recipients' addresses and what other servers said of them. */
const PRIVATE_FOLDER = { recursive: true, mode: 0o700 } as const;
const PRIVATE_FILE = 0o600;

/** Whose a journal is. */
export interface JournalOwner {
  readonly workerId: string;
  /** On this machine: journals do not leave it. */
  readonly pid: number;
}

/** A full disk is reported, not thrown: what cannot be written down is kept in memory and nothing new is begun. */
export interface Journal {
  /** False when it could not be written. */
  append(conclusion: DeliveryResult): boolean;
  /** Can it be written (again)? Where the file was removed by another worker there is a new one, with nothing in it. */
  probe(): boolean;
  /** How much is in it, in characters. */
  readonly size: number;
  /**
   * Forgets everything but these: the database has the rest.
   *
   * @throws what the disk has against it; the journal is then as it was
   */
  keepOnly(conclusions: readonly DeliveryResult[]): void;
  /** Closes and deletes the file, after a stop in good order. */
  remove(): void;
}

export function openJournal(folder: string, owner: JournalOwner): Journal {
  mkdirSync(folder, PRIVATE_FOLDER);
  const file = journalFile(folder, owner);
  let descriptor = openSync(file, "a", PRIVATE_FILE);
  let size = 0;
  const write = (text: string): boolean => {
    try {
      // Unlike writeSync it writes everything, and a short write cannot join two lines.
      writeFileSync(descriptor, text);
      size += text.length;
      return true;
    } catch {
      return false;
    }
  };
  /** The new file is open before the old one is let go: whatever fails between, one of them can be written. */
  const replaceBy = (text: string) => {
    const shorter = `${file}.new`;
    // A kill may have left one.
    rmSync(shorter, { force: true });
    const next = openSync(shorter, "a", PRIVATE_FILE);
    try {
      writeFileSync(next, text);
      renameSync(shorter, file);
    } catch (error) {
      closeSync(next);
      rmSync(shorter, { force: true });
      throw error;
    }
    const last = descriptor;
    descriptor = next;
    closeSync(last);
  };
  return {
    append: (conclusion) => write(lineOf(conclusion)),
    probe() {
      try {
        if (!existsSync(file)) replaceBy("");
      } catch {
        return false;
      }
      // An empty line says nothing; it also ends a line that a full disk cut short.
      return write("\n");
    },
    get size() {
      return size;
    },
    keepOnly(conclusions) {
      if (size === 0) return;
      const text = conclusions.map(lineOf).join("");
      if (text === "") ftruncateSync(descriptor);
      else replaceBy(text);
      size = text.length;
    },
    remove() {
      // Nothing is left to shorten: the number of the descriptor may soon be another file's.
      size = 0;
      closeSync(descriptor);
      rmSync(file, { force: true });
    },
  };
}

/** The workers that have a journal here, alive or dead. */
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

/** How long what stands in a journal has been waiting, in milliseconds; 0 when nothing does. */
export function journalSilence(folder: string, owner: JournalOwner): number {
  const stats = statSync(journalFile(folder, owner), { throwIfNoEntry: false });
  return stats === undefined || stats.size === 0 ? 0 : Date.now() - stats.mtimeMs;
}

/** The conclusions of one journal. A line cut short by the kill is left out: its conversation counts as in flight. */
export async function* readJournal(folder: string, owner: JournalOwner): AsyncGenerator<DeliveryResult> {
  for await (const line of linesOf(createReadStream(journalFile(folder, owner), "utf8"))) {
    try {
      yield JSON.parse(line, reviveDate) as DeliveryResult;
    } catch {
      // Not a whole line.
    }
  }
}

export function removeJournal(folder: string, owner: JournalOwner): void {
  rmSync(journalFile(folder, owner), { force: true });
}

function journalFile(folder: string, { workerId, pid }: JournalOwner): string {
  return join(folder, `${workerId}.${pid}.jsonl`);
}

/** By line feeds alone: Node's own reader also ends lines at U+2028, which a gateway may put into its answer. */
async function* linesOf(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of text) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  yield rest;
}

/** Moments are written in milliseconds: with a Date in it, to make the line takes three times as long. */
function lineOf({ settlement, outcome, ...rest }: DeliveryResult): string {
  const { dueAt, decidedAt, firstAttemptAt } = settlement;
  const noted = outcome && {
    ...outcome,
    time: outcome.time.getTime(),
    nextAttemptAt: outcome.nextAttemptAt?.getTime() ?? null,
  };
  const moments = {
    dueAt: dueAt?.getTime() ?? null,
    decidedAt: decidedAt?.getTime(),
    firstAttemptAt: firstAttemptAt?.getTime(),
  };
  const line = { settlement: { ...settlement, ...moments }, outcome: noted, ...rest };
  return `${JSON.stringify(line)}\n`;
}

const MOMENTS = new Set(["time", "dueAt", "decidedAt", "firstAttemptAt", "nextAttemptAt"]);

function reviveDate(key: string, value: unknown): unknown {
  const isMoment = MOMENTS.has(key);
  // As text they stand in journals of an earlier version.
  return isMoment && (typeof value === "number" || typeof value === "string") ? new Date(value) : value;
}
