/** Writes the records of a backup to a stream, compressed. Waits while the stream or the compression is busy. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, crc32, createZstdCompress } from "node:zlib";
import {
  type BackupHeader,
  type BackupTrailer,
  countLines,
  formatHeader,
  MOST_RECORD,
  RECORD_HEAD,
  type RecordKind,
} from "./backup-format.ts";
import type { Sequence } from "./catalogue-store.ts";

/** The fastest level: PostgreSQL, and not the compression, should set the pace. */
const LEVEL = 1;
/**
 * Octets of COPY that are collected for a record. Each write is a task of the thread pool: one for each piece of COPY took more
 * than twice the processor time.
 */
const FULL_RECORD = 256 * 1024;

export class BackupWriter {
  readonly #zstd = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: LEVEL } });
  readonly #output: Writable;
  readonly #sha = createHash("sha256");
  readonly #rows: Record<string, number> = {};
  readonly #written: Promise<void>;
  #table = "";
  /** Octets of the table that are in no record yet. */
  readonly #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** Octets after compression. */
  #bytes = 0;

  /** @param output stays open after the end */
  constructor(output: Writable, header: BackupHeader) {
    this.#output = output;
    const line = formatHeader(header);
    this.#sha.update(line);
    this.#bytes = Buffer.byteLength(line);
    output.write(line);
    this.#zstd.on("data", (piece: Buffer) => {
      this.#bytes += piece.length;
    });
    this.#written = pipeline(this.#zstd, output, { end: false });
    // A failure is thrown by the next write, or by `end`.
    this.#written.catch(() => {});
  }

  get bytes(): number {
    return this.#bytes;
  }

  async beginTable(name: string): Promise<void> {
    await this.#writeWaiting();
    this.#table = name;
    this.#rows[name] = 0;
    await this.#record("T", Buffer.from(JSON.stringify({ name })));
  }

  /** @param piece octets of COPY, cut anywhere */
  async addData(piece: Buffer): Promise<void> {
    this.#rows[this.#table] = (this.#rows[this.#table] ?? 0) + countLines(piece);
    this.#waiting.push(piece);
    this.#waitingBytes += piece.length;
    if (this.#waitingBytes >= FULL_RECORD) await this.#writeWaiting();
  }

  async #writeWaiting(): Promise<void> {
    const data = Buffer.concat(this.#waiting);
    this.#waiting.length = 0;
    this.#waitingBytes = 0;
    for (let at = 0; at < data.length; at += MOST_RECORD) {
      await this.#record("D", data.subarray(at, at + MOST_RECORD));
    }
  }

  rowsOf(table: string): number {
    return this.#rows[table] ?? 0;
  }

  /** Writes the trailer, and resolves when the output has taken everything. */
  async end(sequences: readonly Sequence[]): Promise<BackupTrailer> {
    await this.#writeWaiting();
    const trailer = { rows: this.#rows, sequences, sha256: this.#sha.copy().digest("hex") };
    await this.#record("Z", Buffer.from(JSON.stringify(trailer)));
    // An end that is called while octets wait adds an empty frame, and a reader refuses what follows the first one.
    await new Promise<void>((done) => this.#zstd.write("", () => done()));
    this.#zstd.end();
    await this.#written;
    if (this.#output.writableNeedDrain) await once(this.#output, "drain");
    return trailer;
  }

  /** Frees the compression after a failure. */
  abandon(): void {
    this.#zstd.destroy();
  }

  async #record(kind: RecordKind, content: Buffer): Promise<void> {
    const head = Buffer.alloc(RECORD_HEAD);
    head.write(kind, "latin1");
    head.writeUInt32BE(content.length, 1);
    head.writeUInt32BE(crc32(content), 5);
    this.#sha.update(head).update(content);
    this.#zstd.write(head);
    if (!this.#zstd.write(content)) await Promise.race([once(this.#zstd, "drain"), this.#written]);
  }
}
