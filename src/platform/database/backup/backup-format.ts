/**
 * The form of a backup:
 *
 *     POSTHASTE BACKUP\n
 *     {CRC-32} {header}\n      hexadecimal; JSON, one line
 *     zstd( record … )        one frame (RFC 8878), after which nothing follows
 *
 * A record is its kind (one letter), the length of its content and the CRC-32 of its content (4 octets each, big endian), and the
 * content. `T` begins a table (JSON with its name), `D` has octets of `copy … to stdout` of this table, in text format, and `Z`,
 * the last, is the trailer (JSON). A backup without a trailer is not whole.
 */
import { crc32 } from "node:zlib";
import type { SealedText } from "#platform/secrets/passphrase-box.ts";
import type { Sequence, StoredTable } from "./catalogue-store.ts";

/** Raised when an older program could not read a backup any more. */
export const FORMAT = 1;
export const MAGIC = "POSTHASTE BACKUP\n";
/** Octets of kind, length and checksum. */
export const RECORD_HEAD = 9;
export const MOST_RECORD = 1024 * 1024;
export const MOST_HEADER = 16 * 1024 * 1024;

export type RecordKind = "T" | "D" | "Z";

/** What a restore needs to know before the first row. */
export interface BackupHeader {
  readonly format: number;
  /** The version of the program that made the backup. */
  readonly program: string;
  readonly postgres: string;
  /** The moment whose state the backup has, by the clock of the database (ISO 8601). */
  readonly taken_at: string;
  /** The migrations that were applied, with the SHA-256 of their text. */
  readonly migrations: readonly { readonly name: string; readonly digest: string }[];
  readonly tables: readonly StoredTable[];
  /** Fingerprints of the secret keys that the database needs, in hexadecimal. */
  readonly key_fingerprints: readonly string[];
  /** The secret keys, encrypted; null if the backup is without them. */
  readonly key_ring: SealedText | null;
}

export interface BackupTrailer {
  /** The rows of each table. */
  readonly rows: Readonly<Record<string, number>>;
  readonly sequences: readonly Sequence[];
  /** SHA-256, in hexadecimal, of the header's line and of all records before the trailer. */
  readonly sha256: string;
}

/** The beginning of a backup: everything before the compressed records. */
export function formatHeader(header: BackupHeader): string {
  const json = JSON.stringify(header);
  return `${MAGIC}${checksumOf(json)} ${json}\n`;
}

/** The header of the line behind MAGIC, or undefined if it is damaged. */
export function parseHeader(line: string): BackupHeader | undefined {
  const [checksum, ...words] = line.trimEnd().split(" ");
  const json = words.join(" ");
  return checksum === checksumOf(json) ? (JSON.parse(json) as BackupHeader) : undefined;
}

const checksumOf = (text: string) => crc32(text).toString(16).padStart(8, "0");

/** Counts the rows in COPY's text format: a line end within a value is written as `\n`, in two characters. */
export function countLines(piece: Buffer): number {
  let count = 0;
  for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) count += 1;
  return count;
}
