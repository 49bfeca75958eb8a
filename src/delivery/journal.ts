/**
 * What a worker learned, on disk before the database knows it. Each conclusion is appended as it comes (one write
 * to the page cache, which survives a kill -9); after a crash the next worker on this machine replays the file, so
 * that a message whose 250 had arrived is not sent again.
 *
 * One file a worker, named for its id, held under an advisory lock of the same id: a file whose lock is free
 * belongs to a dead worker. Replaying twice is harmless: settlements are fenced by their lease number.
 */
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { Conclusion } from "./conclusion.ts";

const ENDING = ".jsonl";

export interface Journal {
  append(conclusion: Conclusion): void;
  /** Forgets everything: the database has it. */
  clear(): void;
  /** Closes and deletes the file, after a stop in good order. */
  remove(): void;
}

export function openJournal(folder: string, workerId: string): Journal {
  mkdirSync(folder, { recursive: true });
  const file = journalFile(folder, workerId);
  const descriptor = openSync(file, "a");
  let isEmpty = true;
  return {
    append(conclusion) {
      writeSync(descriptor, `${JSON.stringify(conclusion)}\n`);
      isEmpty = false;
    },
    clear() {
      if (!isEmpty) ftruncateSync(descriptor);
      isEmpty = true;
    },
    remove() {
      closeSync(descriptor);
      rmSync(file, { force: true });
    },
  };
}

/** Ids of the workers that left a journal here, alive or dead. */
export function listJournals(folder: string): string[] {
  mkdirSync(folder, { recursive: true });
  return readdirSync(folder)
    .filter((name) => name.endsWith(ENDING))
    .map((name) => name.slice(0, -ENDING.length));
}

/** The conclusions of one journal. A line cut short by the kill is left out: its conversation counts as in flight. */
export function readJournal(folder: string, workerId: string): Conclusion[] {
  const lines = readFileSync(journalFile(folder, workerId), "utf8").split("\n");
  return lines.flatMap((line) => {
    try {
      return [JSON.parse(line, reviveDate) as Conclusion];
    } catch {
      return [];
    }
  });
}

export function removeJournal(folder: string, workerId: string): void {
  rmSync(journalFile(folder, workerId), { force: true });
}

function journalFile(folder: string, workerId: string): string {
  return join(folder, workerId + ENDING);
}

function reviveDate(key: string, value: unknown): unknown {
  return typeof value === "string" && (key === "time" || key === "dueAt" || key === "nextAttemptAt")
    ? new Date(value)
    : value;
}
