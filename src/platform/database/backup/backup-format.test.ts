import { randomBytes } from "node:crypto";
import { Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import { type BackupHeader, FORMAT, MOST_RECORD } from "./backup-format.ts";
import { BackupReader, UnusableBackup } from "./backup-reader.ts";
import { BackupWriter } from "./backup-writer.ts";

const header: BackupHeader = {
  format: FORMAT,
  program: "1.2.3",
  postgres: "18.4",
  taken_at: "2026-01-02T03:04:05.678Z",
  migrations: [],
  tables: [],
  key_fingerprints: [],
  key_ring: null,
};
const lines = Buffer.from(`a\tb\\n\n${randomBytes(300).toString("hex")}\n`);
/** Longer than a record, and not compressible. */
const long = Buffer.concat([Buffer.from(randomBytes(MOST_RECORD).toString("base64")), Buffer.from("\n")]);

/** An output that takes its time. */
class SlowOutput extends Writable {
  readonly pieces: Buffer[] = [];

  override _write(piece: Buffer, _encoding: string, done: () => void): void {
    this.pieces.push(piece);
    setImmediate(done);
  }
}

async function written(tables: Readonly<Record<string, readonly Buffer[]>>, top = header): Promise<Buffer> {
  const output = new SlowOutput({ highWaterMark: 1_000 });
  const writer = new BackupWriter(output, top);
  for (const [name, pieces] of Object.entries(tables)) {
    await writer.beginTable(name);
    for (const piece of pieces) await writer.addData(piece);
  }
  await writer.end([{ name: "numbers", last: 7 }]);
  expect(writer.bytes).toBe(Buffer.concat(output.pieces).length);
  return Buffer.concat(output.pieces);
}

/** Reads a backup that arrives in pieces. */
async function read(backup: Buffer, size = 997) {
  async function* pieces() {
    for (let at = 0; at < backup.length; at += size) yield backup.subarray(at, at + size);
  }
  const reader = await BackupReader.open(pieces());
  const tables: Record<string, Buffer> = {};
  for await (const table of reader.tables()) {
    const parts: Buffer[] = [];
    for await (const piece of table.pieces) parts.push(piece);
    tables[table.name] = Buffer.concat(parts);
  }
  return { header: reader.header, tables, trailer: reader.trailer };
}

test("what was written is read, with the number of rows of each table", async () => {
  const backup = await written({ first: [lines, lines], empty: [], last: [long, lines] });
  const found = await read(backup);
  expect(found.header).toEqual(header);
  expect(found.tables.first?.equals(Buffer.concat([lines, lines]))).toBe(true);
  expect(found.tables.last?.equals(Buffer.concat([long, lines]))).toBe(true);
  expect(found.trailer.rows).toEqual({ first: 4, empty: 0, last: 3 });
  expect(found.trailer.sequences).toEqual([{ name: "numbers", last: 7 }]);
});

test("the small pieces in which PostgreSQL gives the rows share records, each of which is compressed at once", async () => {
  const small = Array.from({ length: 3_000 }, (_, at) => Buffer.from(`${at}\t${"x".repeat(200)}\n`));
  async function* pieces() {
    yield await written({ small });
  }
  const reader = await BackupReader.open(pieces());
  const records: Buffer[] = [];
  for await (const table of reader.tables()) for await (const record of table.pieces) records.push(record);
  expect(records.length).toBeLessThan(10);
  expect(Buffer.concat(records).equals(Buffer.concat(small))).toBe(true);
});

test("a full disk fails the backup", async () => {
  let room = 1_000_000;
  const output = new Writable({
    write(piece: Buffer, _encoding, done) {
      room -= piece.length;
      done(room < 0 ? new Error("no space left on device") : null);
    },
  });
  const writer = new BackupWriter(output, header);
  await writer.beginTable("long");
  const writing = (async () => {
    for (let times = 0; times < 10; times += 1) await writer.addData(long);
    await writer.end([]);
  })();
  await expect(writing).rejects.toThrow("no space left on device");
});

describe("a damaged backup is refused, or nothing of it is missing or changed", async () => {
  const backup = await written({ first: [lines], last: [lines] });
  const whole = await read(backup);

  async function readsNothingWrong(changed: Buffer): Promise<boolean> {
    const found = await read(changed).catch((fault: unknown) => fault);
    if (!(found instanceof UnusableBackup)) expect(found).toEqual(whole);
    return found instanceof UnusableBackup;
  }

  test("wherever it is cut off", async () => {
    let refused = 0;
    for (let length = 0; length < backup.length; length += 1) {
      refused += (await readsNothingWrong(backup.subarray(0, length))) ? 1 : 0;
    }
    expect(refused).toBe(backup.length);
  });

  test("whichever octet is changed", async () => {
    let refused = 0;
    for (let at = 0; at < backup.length; at += 1) {
      const changed = Buffer.from(backup);
      changed[at] = (changed[at] ?? 0) ^ 0x41;
      refused += (await readsNothingWrong(changed)) ? 1 : 0;
    }
    expect(refused).toBeGreaterThan(backup.length - 20);
  });
});

test.each([
  ["one octet", Buffer.from("\n")],
  ["a checksum of its own", randomBytes(32)],
  ["another backup", await written({ first: [lines] })],
])("a backup that is followed by %s is refused", async (_, more) => {
  const backup = await written({ first: [lines] });
  const longer = Buffer.concat([backup, more]);
  // The end is within a piece, or is that of a piece.
  for (const size of [longer.length, backup.length, 1]) {
    await expect(read(longer, size)).rejects.toThrow(
      /^the backup is damaged or cut off: .*\. Use another copy of it$/,
    );
  }
});

test("a backup of a later format names the version that can restore it", async () => {
  const later = await written({}, { ...header, format: FORMAT + 1 });
  await expect(read(later)).rejects.toThrow(
    "the backup was made by Posthaste 1.2.3, which is newer than this version: restore it with that version or a newer one",
  );
});

test("another file is no backup", async () => {
  await expect(read(Buffer.from("PGDMP"))).rejects.toThrow("this is not a backup of Posthaste");
  await expect(read(Buffer.alloc(0))).rejects.toThrow("this is not a backup of Posthaste");
});
