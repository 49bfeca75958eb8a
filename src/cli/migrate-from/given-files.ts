/** The files that a source is read from: a file, a folder with its subfolders, or the contents of a zip file. */
import { createReadStream, createWriteStream } from "node:fs";
import { open, opendir, stat } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { openPromise } from "yauzl";
import { type FieldHints, withFieldHints } from "#cli/command/field-hints.ts";
import { fileFault } from "#cli/command/file-fault.ts";
import { ApiError } from "#platform/errors.ts";
import { shellQuoted } from "#platform/shell-quoted.ts";
import { OctetBudget } from "./octet-budget.ts";

export interface GivenFile {
  /** Its path within the folder or zip file, with slashes and without control characters. */
  readonly name: string;
  /** Where it can be read. */
  readonly path: string;
}

const MOST_FILES = 10_000;
const ZIP_MAGIC = [0x50, 0x4b];
const GZIP_MAGIC = [0x1f, 0x8b];
/** Files that any product exports; pictures and reports are not unpacked. */
const useful = /\.(?:csv|tsv|txt|html?)$/i;
/** Paths of files that programs keep for themselves, such as copies that macOS adds to a zip file. */
const hidden = /(?:^|\/)(?:__MACOSX|\.)/;

/**
 * @param folder for the contents of a zip file
 * @throws Error with a sentence for a missing file, a file that is no zip file although its name says so, and an empty one
 */
export async function openGivenFiles(from: string, folder: string): Promise<GivenFile[]> {
  const found = await stat(from).catch((fault: NodeJS.ErrnoException) => fault);
  if (found instanceof Error) throw fileFault(from, found);
  if (found.isDirectory()) return filesIn(from);
  const isZip = await beginsWith(from, ZIP_MAGIC);
  if (isZip) return unzip(from, folder);
  if (/\.zip$/i.test(from)) throw new Error(`${from} is not a zip file`);
  return [{ name: shownName(basename(from)), path: await plainFile(from, join(folder, "unpacked")) }];
}

/** The path of the file, or of its contents if it is a gzip file. */
export async function plainFile(path: string, unpackedPath: string): Promise<string> {
  if (!(await beginsWith(path, GZIP_MAGIC))) return path;
  const budget = new OctetBudget(`${path} unpacks to`);
  await pipeline(
    createReadStream(path),
    createGunzip(),
    (source: AsyncIterable<Uint8Array>) => budget.pass(source),
    createWriteStream(unpackedPath),
  );
  return unpackedPath;
}

async function filesIn(folder: string): Promise<GivenFile[]> {
  const files: GivenFile[] = [];
  const folders = [folder];
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    for await (const entry of await opendir(at)) {
      if (hidden.test(entry.name)) continue;
      const path = join(at, entry.name);
      if (entry.isDirectory()) folders.push(path);
      if (!entry.isFile() || !useful.test(entry.name)) continue;
      if (files.length >= MOST_FILES) throw new Error(`${folder} has more than ${MOST_FILES} files`);
      files.push({ name: shownName(relative(folder, path)), path });
    }
  }
  if (files.length === 0) throw new Error(`${folder} has no CSV file`);
  return files.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** The names within the zip file are not used as paths, so none can lead out of the folder. */
async function unzip(path: string, folder: string): Promise<GivenFile[]> {
  const zip = await openPromise(path).catch((fault: unknown): never => {
    throw new Error(`${path} is not a zip file that can be read: ${messageOf(fault)}`, { cause: fault });
  });
  const files: GivenFile[] = [];
  const budget = new OctetBudget(`${path} unpacks to`);
  try {
    for await (const entry of zip.eachEntry()) {
      const { fileName } = entry;
      if (!useful.test(fileName) || hidden.test(fileName)) continue;
      if (files.length >= MOST_FILES) throw new Error(`${path} has more than ${MOST_FILES} files`);
      const unpacked = join(folder, `unzipped-${files.length}`);
      await pipeline(
        await zip.openReadStreamPromise(entry),
        (source: AsyncIterable<Uint8Array>) => budget.pass(source),
        createWriteStream(unpacked),
      );
      files.push({ name: shownName(fileName), path: unpacked });
    }
  } finally {
    zip.close();
  }
  if (files.length === 0) throw new Error(`${path} has no CSV file`);
  return files.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

const NAME_COLUMNS = "put a row with the names of the columns at the top of the file";
/** The fields without an option are settled in the file. */
const hints: FieldHints = {
  encoding: "save the file as UTF-8",
  opt_out_column: "opt_out_column is --opt-out-column",
  mapping: NAME_COLUMNS,
  has_header: NAME_COLUMNS,
};

/** Names the file in a sentence of an import about it, and says what to do here. */
export function sentenceOfFile({ name }: GivenFile, sentence: string): string {
  const status = `status=bounced is --status ${shellQuoted(`${name}=bounced`)}, for this file alone`;
  return `${name}: ${withFieldHints(sentence, { ...hints, status })}`;
}

/** Names the file in a sentence about its content. Other faults stay as they are. */
export function faultInFile(file: GivenFile, fault: unknown): unknown {
  if (!(fault instanceof ApiError)) return fault;
  return new Error(sentenceOfFile(file, fault.message), { cause: fault });
}

/** Names of files reach the operator's terminal. */
function shownName(path: string): string {
  return path.replaceAll(/\p{Cc}/gu, "?").toWellFormed();
}

async function beginsWith(path: string, magic: readonly number[]): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(magic.length), 0, magic.length, 0);
    return bytesRead === magic.length && magic.every((octet, at) => buffer[at] === octet);
  } finally {
    await file.close();
  }
}

function messageOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault);
}
