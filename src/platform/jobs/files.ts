/**
 * The files of jobs: uploads, intermediate files and results. They are stored in the database, so that a job can run, and its
 * result be fetched, on another machine than the one that received the upload. Files of a killed run are never used, because
 * each run has its own names.
 */
import { mkdir, open, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createLimiter, createWorkspaceLimiter } from "#platform/concurrency.ts";
import { type Database, isDuplicate, type Queryable, type Transaction } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { tempFolder } from "#platform/process/temp-files.ts";
import { type FileKey, findOctets, findSize, insertPart, readParts } from "./file-store.ts";
import { updateInputBytes } from "./job-record-store.ts";
import { queueTurn } from "./turns-store.ts";

/** The name of the upload among the files of its job. */
export const INPUT_FILE = "input";
export const PART_BYTES = 1024 * 1024;

/** A name that is unique to one run of a job. @param downloadName the name for a person who downloads the file */
export function newFileName(downloadName: string): string {
  return `${newId()}/${downloadName}`;
}

/** The name for a person who downloads the file, from a name of `newFileName`. */
export function downloadName(name: string): string {
  return name.slice(name.indexOf("/") + 1);
}

/** Database connections for all uploads of a process: a large one takes a second. */
const takeConnection = createLimiter(2);

/** As many may wait as jobs may be open (start-or-cancel-job.ts); within 30 s the last one is stored if each takes half a second. */
const takeTurn = createWorkspaceLimiter(
  { concurrency: 1, maxWaiting: 50, maxWaitMs: 30_000 },
  "Too many uploads of this workspace are being stored: send fewer at a time",
);

/**
 * Starts a job with an upload: `start` inserts the record with the given id, and the file is stored in the same transaction.
 * @throws ApiError RATE_LIMIT_EXCEEDED if too many uploads of the workspace wait
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
      await queueTurn(tx, workspaceId, jobId);
      return started;
    });
  return takeTurn(workspaceId, () => takeConnection(store));
}

/** Yields views of a buffer that the next part overwrites. An empty file has one empty part. */
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

/** Stores a local file. */
export function storeLocal(db: Database, file: FileKey, path: string): Promise<void> {
  return db.transaction((tx) => storeParts(tx, file, partsOf(path)));
}

/** Stores a file from memory. @returns false, without a change, if a file of this name exists */
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

/**
 * A range of bytes of a file, in chunks of at most a part. @throws Error if the file is shorter, or is deleted
 * meanwhile
 */
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

/** A stream of a whole file; undefined if it does not exist. */
export async function openFile(db: Queryable, file: FileKey): Promise<Readable | undefined> {
  const bytes = await findSize(db, file);
  if (bytes === undefined) return undefined;
  // For a slow reader, at most one part is in memory.
  return Readable.from(readBytes(db, file, { offset: 0, bytes }), { objectMode: false });
}

/** A whole file in memory; undefined if it does not exist. For small files only. */
export async function readWhole(db: Queryable, file: FileKey): Promise<Buffer | undefined> {
  const content = await openFile(db, file);
  return content && Buffer.concat(await content.toArray());
}

/** The path of a temporary file on this machine, which does not exist at first. Disposing of it deletes the file. */
export interface TempFile extends AsyncDisposable {
  readonly path: string;
}

export async function openTempFile(dataDir: string): Promise<TempFile> {
  const folder = tempFolder(dataDir);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, newId());
  return { path, [Symbol.asyncDispose]: () => rm(path, { force: true }) };
}

/** Parts that one statement copies; it has half a minute, also over a slow network or to a slow disk. */
const RUN_OF_PARTS = 8;

/** Copies a file to a local path, for readers that need random access or several passes. */
export async function copyFile(db: Database, file: FileKey, path: string): Promise<void> {
  const bytes = await findSize(db, file);
  if (bytes === undefined) throw new Error(`the job has no file ${file.name}`);
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
  return new Error(`the file ${name} of a job is incomplete`);
}
