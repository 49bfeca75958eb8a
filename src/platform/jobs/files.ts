/**
 * The files of jobs: what was uploaded for one, what it notes for itself, and what it leaves. They are in the database, so
 * that a job may be taken up, and its result fetched, on another machine than the one that took the upload; and what a
 * killed run wrote is either whole or nobody's.
 */
import { mkdir, open, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createLimiter, createWorkspaceLimiter } from "#platform/concurrency.ts";
import { type Database, isDuplicate, type Queryable, type Transaction } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { scratchFolder } from "#platform/process/temp-files.ts";
import { type FileKey, findOctets, findSize, insertPart, readParts } from "./file-store.ts";
import { updateInputBytes } from "./store.ts";
import { joinLine } from "./turns-store.ts";

/** What an upload is called among the files of its job. */
export const INPUT_FILE = "input";
export const PART_BYTES = 1024 * 1024;

/** Of one run of a job alone. @param called what who downloads it sees */
export function newFileName(called: string): string {
  return `${newId()}/${called}`;
}

/** What such a file is called to who downloads it. */
export function downloadName(name: string): string {
  return name.slice(name.indexOf("/") + 1);
}

/** Connections that all uploads of a process take together: a large one takes a second, and others are locked out. */
const takeConnection = createLimiter(2);

/** As many wait as may be open (queue.ts); the last of them gets its turn where each takes half a second. */
const takeTurn = createWorkspaceLimiter(
  { concurrency: 1, maxWaiting: 50, maxWaitMs: 30_000 },
  "Too many files of this workspace are taken in already: send fewer at a time",
);

/**
 * Starts a job that reads an upload: `start` makes its record under the id that it is given, and the file is there with
 * the same commit.
 * @throws ApiError RATE_LIMIT_EXCEEDED when too many uploads of the workspace wait
 */
export function startWithInput<Result>(
  db: Database,
  workspaceId: WorkspaceId,
  path: string,
  start: (tx: Transaction, jobId: string) => Promise<Result>,
): Promise<Result> {
  const jobId = newId();
  const store = () =>
    db.transaction(async (tx) => {
      const started = await start(tx, jobId);
      await storeParts(tx, { workspaceId, jobId, name: INPUT_FILE }, partsOf(path));
      await updateInputBytes(tx, workspaceId, jobId, (await stat(path)).size);
      await joinLine(tx, workspaceId, jobId);
      return started;
    });
  return takeTurn(workspaceId, () => takeConnection(store));
}

/** A part lies in memory that the next one overwrites. An empty file has one, which is empty. */
async function* partsOf(path: string): AsyncGenerator<Buffer> {
  await using file = await open(path);
  const block = Buffer.allocUnsafeSlow(PART_BYTES);
  for (let isFirst = true; ; isFirst = false) {
    let used = 0;
    for (let read = -1; read !== 0 && used < PART_BYTES; used += read) {
      ({ bytesRead: read } = await file.read(block, used, PART_BYTES - used));
    }
    if (used > 0 || isFirst) yield block.subarray(0, used);
    if (used < PART_BYTES) return;
  }
}

/** Stores a file that lies on this machine. */
export function storeLocal(db: Database, file: FileKey, path: string): Promise<void> {
  return db.transaction((tx) => storeParts(tx, file, partsOf(path)));
}

/** Stores a file as it is, unless there is one of this name: then nothing is, and the answer is false. */
export async function storeWhole(db: Database, file: FileKey, octets: Buffer): Promise<boolean> {
  const count = Math.max(1, Math.ceil(octets.length / PART_BYTES));
  const parts = Array.from({ length: count }, (_, at) =>
    octets.subarray(at * PART_BYTES, (at + 1) * PART_BYTES),
  );
  try {
    await db.transaction((tx) => storeParts(tx, file, parts));
    return true;
  } catch (fault) {
    if (isDuplicate(fault)) return false;
    throw fault;
  }
}

async function storeParts(
  tx: Transaction,
  file: FileKey,
  parts: Iterable<Buffer> | AsyncIterable<Buffer>,
): Promise<void> {
  let number = 0;
  for await (const part of parts) await insertPart(tx, file, number++, part);
}

/** Bytes of a file, in pieces of a part at most. @throws Error where the file ends before, or goes meanwhile */
export async function* readBytes(
  db: Queryable,
  file: FileKey,
  { offset, bytes }: { readonly offset: number; readonly bytes: number },
): AsyncGenerator<Buffer> {
  const end = offset + bytes;
  for (let at = offset; at < end; ) {
    const from = at % PART_BYTES;
    const most = Math.min(PART_BYTES - from, end - at);
    const piece = await findOctets(db, file, Math.floor(at / PART_BYTES), { from, most });
    if (piece?.length !== most) throw breaksOff(file);
    yield piece;
    at += most;
  }
}

/** A file from its beginning to its end; undefined where there is none. */
export async function openFile(db: Queryable, file: FileKey): Promise<Readable | undefined> {
  const bytes = await findSize(db, file);
  if (bytes === undefined) return undefined;
  // No more than the part at hand waits in memory for a slow reader.
  return Readable.from(readBytes(db, file, { offset: 0, bytes }), { objectMode: false });
}

/** What is small enough to be in memory. */
export async function readWhole(db: Queryable, file: FileKey): Promise<Buffer | undefined> {
  const content = await openFile(db, file);
  return content && Buffer.concat(await content.toArray());
}

/** A place on the disk of this machine, in which nothing lies at first. Disposing of it removes what does. */
export interface Scratch extends AsyncDisposable {
  readonly path: string;
}

export async function openScratch(dataDir: string): Promise<Scratch> {
  const folder = scratchFolder(dataDir);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, newId());
  return { path, [Symbol.asyncDispose]: () => rm(path, { force: true }) };
}

/** Copied by one statement, which has half a minute for it: over a slow network, to a slow disk. */
const RUN_OF_PARTS = 8;

/** Copies a file to this machine, for those who read one more than once or from the middle. */
export async function copyFile(db: Database, file: FileKey, path: string): Promise<void> {
  const bytes = await findSize(db, file);
  if (bytes === undefined) throw new Error(`a job without its file ${file.name}`);
  await using copy = await open(path, "w", 0o600);
  let copied = 0;
  const write = async (pieces: AsyncIterable<Buffer>) => {
    for await (const piece of pieces) {
      await copy.writeFile(piece);
      copied += piece.length;
    }
  };
  for (let first = 0; first * PART_BYTES < bytes; first += RUN_OF_PARTS) {
    await db.transaction((tx) => readParts(tx, file, { first, count: RUN_OF_PARTS }, write));
  }
  if (copied !== bytes) throw breaksOff(file);
}

function breaksOff({ name }: FileKey): Error {
  return new Error(`the file ${name} of a job breaks off`);
}
