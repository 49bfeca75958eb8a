/** Reads a backup and checks every record before its content is used. */
import { createHash } from "node:crypto";
import { pipeline, Readable } from "node:stream";
import { crc32, createZstdDecompress } from "node:zlib";
import {
  type BackupHeader,
  type BackupTrailer,
  FORMAT,
  MAGIC,
  MOST_HEADER,
  MOST_RECORD,
  parseHeader,
  RECORD_HEAD,
} from "./backup-format.ts";

const LINE_END = 10;
/** Octets that the decompression gives at a time. */
const CHUNK = 256 * 1024;

/** A backup that cannot be restored: cut off, changed, or of another program. The message is one sentence. */
export class UnusableBackup extends Error {}

interface BackupRecord {
  readonly kind: string;
  readonly head: Buffer;
  readonly content: Buffer;
}

export interface TableData {
  readonly name: string;
  /** Octets of COPY. Must be read to the end before the next table. */
  readonly pieces: AsyncIterable<Buffer>;
}

export class BackupReader {
  readonly header: BackupHeader;
  readonly #records: AsyncGenerator<BackupRecord>;
  readonly #sha = createHash("sha256");
  #trailer: BackupTrailer | undefined;

  private constructor(line: Buffer, records: AsyncGenerator<BackupRecord>) {
    this.header = readHeader(line);
    this.#records = records;
    this.#sha.update(line);
  }

  /** Reads the header. @throws UnusableBackup */
  static async open(source: AsyncIterable<Uint8Array | string>): Promise<BackupReader> {
    const pieces = source[Symbol.asyncIterator]();
    const { line, rest } = await readHeaderLine(pieces);
    return new BackupReader(line, recordsOf(plainOf(rest, pieces)));
  }

  /** The tables in the order of the backup. After the last one, everything is checked. @throws UnusableBackup */
  async *tables(): AsyncGenerator<TableData> {
    let record = await this.#next();
    while (record.kind === "T") {
      const { name } = parse(record.content) as { readonly name: string };
      let following: BackupRecord | undefined;
      const next = () => this.#next();
      async function* pieces() {
        for (following = await next(); following.kind === "D"; following = await next()) {
          yield following.content;
        }
      }
      yield { name, pieces: pieces() };
      if (following === undefined || following.kind === "D") {
        throw new TypeError(`the rows of ${name} were not read to their end`);
      }
      record = following;
    }
    if (record.kind !== "Z") throw damaged("it has a record of an unknown kind");
    const trailer = parse(record.content) as BackupTrailer;
    if (trailer.sha256 !== this.#sha.digest("hex")) throw damaged("its checksum is wrong");
    if (!(await this.#records.next()).done) throw damaged("it continues after its end");
    this.#trailer = trailer;
  }

  /** Reads everything to the end, and so checks it. @throws UnusableBackup */
  async readThrough(): Promise<void> {
    for await (const { pieces } of this.tables()) for await (const _ of pieces);
  }

  /** Known after the last table. */
  get trailer(): BackupTrailer {
    if (this.#trailer === undefined) throw new TypeError("the backup was not read to its end");
    return this.#trailer;
  }

  async #next(): Promise<BackupRecord> {
    const { value, done } = await this.#records.next();
    if (done) throw damaged("its end is missing");
    // The trailer has the checksum of what is before it.
    if (value.kind !== "Z") this.#sha.update(value.head).update(value.content);
    return value;
  }
}

function damaged(how: string): UnusableBackup {
  return new UnusableBackup(`the backup is damaged or cut off: ${how}. Use another copy of it`);
}

type Pieces = AsyncIterator<Uint8Array | string>;

async function readHeaderLine(pieces: Pieces): Promise<{ line: Buffer; rest: Buffer }> {
  const magic = Buffer.from(MAGIC);
  let read = Buffer.alloc(0);
  for (;;) {
    const { value, done } = await pieces.next();
    if (done) break;
    read = Buffer.concat([read, typeof value === "string" ? Buffer.from(value) : value]);
    if (!read.subarray(0, magic.length).equals(magic.subarray(0, read.length))) break;
    const end = read.indexOf(LINE_END, magic.length);
    if (end >= 0) return { line: read.subarray(0, end + 1), rest: read.subarray(end + 1) };
    if (read.length > MOST_HEADER) break;
  }
  if (read.length > 0 && magic.subarray(0, read.length).equals(read.subarray(0, magic.length))) {
    throw damaged("its header is not whole");
  }
  throw new UnusableBackup("this is not a backup of Posthaste");
}

function readHeader(line: Buffer): BackupHeader {
  const header = parseHeader(line.toString("utf8", MAGIC.length));
  if (header === undefined) throw damaged("its header is changed");
  if (header.format > FORMAT) {
    throw new UnusableBackup(
      `the backup was made by Posthaste ${header.program}, which is newer than this version: restore it with that version or a newer one`,
    );
  }
  return header;
}

/** @throws UnusableBackup if it is not JSON */
function parse(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString());
  } catch {
    throw damaged("a part of it cannot be read");
  }
}

/** Decompresses what follows the header. @throws UnusableBackup if anything follows the compressed octets */
async function* plainOf(first: Buffer, pieces: Pieces): AsyncGenerator<Buffer> {
  let given = 0;
  async function* compressed() {
    given += first.length;
    yield first;
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) {
      given += Buffer.byteLength(next.value);
      yield next.value;
    }
  }
  const plain = createZstdDecompress({ chunkSize: CHUNK });
  // Errors reach the reader of `plain`: they must not also end the process.
  plain.on("error", () => {});
  pipeline(Readable.from(compressed(), { objectMode: false }), plain, () => {});
  yield* plain;
  // Without an error, the decompression ignores what follows in the same piece.
  if (given > plain.bytesWritten) throw damaged("it continues after its end");
}

async function* recordsOf(plain: AsyncIterable<Buffer>): AsyncGenerator<BackupRecord> {
  let waiting: Buffer[] = [];
  let size = 0;
  const take = (length: number) => {
    const whole = waiting.length === 1 ? (waiting[0] ?? Buffer.alloc(0)) : Buffer.concat(waiting);
    waiting = length < whole.length ? [whole.subarray(length)] : [];
    size -= length;
    return whole.subarray(0, length);
  };
  let head: Buffer | undefined;
  try {
    for await (const piece of plain) {
      waiting.push(piece);
      size += piece.length;
      for (;;) {
        if (head === undefined) {
          if (size < RECORD_HEAD) break;
          head = take(RECORD_HEAD);
          if (head.readUInt32BE(1) > MOST_RECORD) throw damaged("a record is too long");
        }
        if (size < head.readUInt32BE(1)) break;
        const content = take(head.readUInt32BE(1));
        if (crc32(content) !== head.readUInt32BE(5)) throw damaged("a checksum is wrong");
        yield { kind: head.toString("latin1", 0, 1), head, content };
        head = undefined;
      }
    }
  } catch (fault) {
    // The codes of the decompression: ZSTD_error_…, or Z_BUF_ERROR at an early end.
    if (fault instanceof Error && "code" in fault && String(fault.code).startsWith("Z")) {
      throw damaged("it cannot be decompressed");
    }
    throw fault;
  }
  if (size > 0 || head !== undefined) throw damaged("its end is missing");
}
