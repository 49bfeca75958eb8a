import { randomBytes } from "node:crypto";
import { crc32, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { strToU8, zipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { InflateBudget } from "./gzip.ts";
import { unpack } from "./unpack.ts";
import type { UnpackRefusal } from "./unpack-result.ts";

const LIMIT = 50 * 1024 * 1024;
const XML = `<feedback>${Array.from({ length: 500 }, (_, at) => `<a>${at * 7919}</a>`).join("")}</feedback>`;

function reasonOf(octets: Uint8Array, limit = LIMIT): UnpackRefusal | "none" {
  return unpack(octets, new InflateBudget(limit)).find((file) => !file.ok)?.reason ?? "none";
}

const textsIn = (octets: Uint8Array, limit = LIMIT) =>
  unpack(octets, new InflateBudget(limit)).flatMap((file) => (file.ok ? [file.octets.toString()] : []));

const resultsOf = (octets: Uint8Array, budget: InflateBudget) =>
  unpack(octets, budget).map((file) => (file.ok ? "read" : file.reason));

/** A zip archive of one deflated file with the given central directory. */
function zip(
  name: string,
  content: Buffer,
  change: (archive: Buffer, directory: number) => void = () => {},
): Buffer {
  const archive = Buffer.from(zipSync({ [name]: content }));
  change(archive, archive.lastIndexOf("PK\x01\x02"));
  return archive;
}

const manyFiles = Object.fromEntries(
  Array.from({ length: 10_000 }, (_, at) => [`${at}.xml`, new Uint8Array()]),
);

/** A zip archive that is truncated in its central directory. */
function withoutDirectory(archive: Buffer): Buffer {
  return archive.subarray(0, archive.indexOf("PK\x01\x02") + 10);
}

function wrongOctet(packed: Uint8Array, at: number): Buffer {
  const changed = Buffer.from(packed);
  const place = at < 0 ? changed.length + at : at;
  changed[place] = (changed[place] ?? 0) ^ 0xff;
  return changed;
}

const wrongChecksum = (gzip: Uint8Array) => wrongOctet(gzip, -8);

/** A zip from a program that does not know a file's length in advance: the length follows the file. */
function streamedZip(files: Readonly<Record<string, string>>, hasSignature = true): Buffer {
  const parts = Object.entries(files).flatMap(([name, content]) => {
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(8, 6);
    local.writeUInt16LE(8, 8);
    local.writeUInt16LE(name.length, 26);
    const packed = deflateRawSync(content);
    const descriptor = Buffer.alloc(16);
    descriptor.writeUInt32LE(0x08074b50, 0);
    descriptor.writeUInt32LE(crc32(content), 4);
    descriptor.writeUInt32LE(packed.length, 8);
    descriptor.writeUInt32LE(content.length, 12);
    return [local, Buffer.from(name), packed, hasSignature ? descriptor : descriptor.subarray(4)];
  });
  return Buffer.concat(parts);
}

describe("a truncated archive", () => {
  const files = { "a.xml": strToU8(XML), "b.xml": strToU8(XML.toUpperCase()) };
  const upper = XML.toUpperCase();

  test.each<[string, Uint8Array, string[]]>([
    ["a gzip without its trailer", gzipSync(XML).subarray(0, -8), [XML]],
    ["a gzip with a part of its checksum", gzipSync(XML).subarray(0, -6), [XML]],
    ["a gzip with its checksum and no length", gzipSync(XML).subarray(0, -4), [XML]],
    ["a zlib stream without its checksum", deflateSync(XML).subarray(0, -4), [XML]],
    ["a zip without its directory", withoutDirectory(Buffer.from(zipSync(files))), [XML, upper]],
    ["a zip without compression", withoutDirectory(Buffer.from(zipSync(files, { level: 0 }))), [XML, upper]],
    ["a zip without the end of its directory", Buffer.from(zipSync(files)).subarray(0, -22), [XML, upper]],
    ["a zip with lengths after its files", streamedZip({ "a.xml": XML, "b.xml": upper }), [XML, upper]],
    ["a zip with lengths without a mark", streamedZip({ "a.xml": XML, "b.xml": upper }, false), [XML, upper]],
    [
      "a zip without the last length",
      streamedZip({ "a.xml": XML, "b.xml": upper }).subarray(0, -16),
      [XML, upper],
    ],
    [
      "a zip with a folder",
      withoutDirectory(Buffer.from(zipSync({ "r/": new Uint8Array(), ...files }))),
      [XML, upper],
    ],
  ])("keeps complete files: %s", (_, packed, texts) => {
    expect(textsIn(packed)).toEqual(texts);
    expect(reasonOf(packed)).toBe("none");
  });

  test.each<[string, Uint8Array]>([
    ["a gzip", gzipSync(XML)],
    ["the second member of a gzip", Buffer.concat([gzipSync(XML.slice(0, 500)), gzipSync(XML.slice(500))])],
    ["a zlib stream", deflateSync(XML)],
    ["a zip", Buffer.from(zipSync({ "r.xml": strToU8(XML) })).subarray(0, -90)],
    ["a zip without compression", Buffer.from(zipSync({ "r.xml": [strToU8(XML), { level: 0 }] }))],
    ["a gzip in a zip", Buffer.from(zipSync({ "r.gz": [gzipSync(XML), { level: 0 }] }))],
    ["a streamed zip", streamedZip({ "r.xml": XML })],
  ])("keeps the data before the cut: %s", (_, whole) => {
    const packed = whole.subarray(0, Math.floor(whole.length * 0.8));
    const [text = ""] = textsIn(packed);
    expect(text.length).toBeGreaterThan(XML.length / 2);
    expect([XML.startsWith(text), text === XML]).toEqual([true, false]);
    expect(unpack(packed, new InflateBudget(LIMIT))).toMatchObject([{ ok: true, isCutOff: true }]);
  });
});

describe("unpacked files", () => {
  test.each<[string, Uint8Array]>([
    ["plain", Buffer.from(XML)],
    ["plain after a byte order mark and blanks", Buffer.from(`\ufeff\n ${XML}`)],
    ["gzip", gzipSync(XML)],
    ["zip", zipSync({ "report.xml": strToU8(XML) })],
    ["a zlib stream", deflateSync(XML)],
    ["a zlib stream of a small window", deflateSync(XML, { windowBits: 9, level: 1 })],
    ["a zlib stream and more", Buffer.concat([deflateSync(XML), Buffer.from("\r\n")])],
    ["a gzip in a zip", zipSync({ "report.xml.gz": gzipSync(XML) })],
    ["a zlib stream in a zip", zipSync({ "report.xml.z": deflateSync(XML) })],
    ["zip without compression", zipSync({ "report.xml": [strToU8(XML), { level: 0 }] })],
  ])("%s", (_, packed) => {
    expect(textsIn(packed).map((text) => text.replace(/^\ufeff\n /, ""))).toEqual([XML]);
    expect(reasonOf(packed)).toBe("none");
  });

  const half = XML.length / 2;
  test.each<[string, Uint8Array]>([
    ["a CRLF", Buffer.from("\r\n")],
    ["NULs", Buffer.alloc(512)],
    ["one NUL and more", Buffer.from("\0\0\x01junk")],
    ["an empty member", gzipSync("")],
    ["the footer of a mailing list", Buffer.from("-- \nYou get this mail as a subscriber of reports.\n")],
    ["the first octets of a gzip", Buffer.from([0x1f, 0x8b])],
    ["octets that begin like a gzip", Buffer.concat([Buffer.from([0x1f, 0x8b]), Buffer.alloc(40, 7)])],
  ])("gzip ends with its last complete member, followed by %s", (_, rest) => {
    expect(textsIn(Buffer.concat([gzipSync(XML), rest]))).toEqual([XML]);
    const members = [gzipSync(XML.slice(0, half)), gzipSync(XML.slice(half)), rest];
    expect(textsIn(Buffer.concat(members))).toEqual([XML]);
  });

  test("gzip with every optional field of its header", () => {
    const packed = gzipSync(XML);
    const header = Buffer.from(packed.subarray(0, 10));
    header[3] = 2 + 4 + 8 + 16;
    const fields = Buffer.from("\x03\0abcreport.xml\0a comment\0\x12\x34", "latin1");
    expect(textsIn(Buffer.concat([header, fields, packed.subarray(10)]))).toEqual([XML]);
  });

  test("a text with a compression ratio above a hundred", () => {
    const alike = "<record>the same again</record>".repeat(100_000);
    for (const packed of [gzipSync(alike), zip("r.xml", Buffer.from(alike))]) {
      expect(packed.length * 100).toBeLessThan(alike.length);
      expect(textsIn(packed)).toEqual([alike]);
    }
  });

  test.each<[string, Record<string, Uint8Array>]>([
    ["a folder of macOS", { "r.xml": strToU8(XML), "__MACOSX/._r.xml": strToU8("\0\x05\x16") }],
    ["the entry of a folder", { "reports/": new Uint8Array(), "reports/r.xml": strToU8(XML) }],
    ["hidden files", { ".DS_Store": strToU8("x"), "a/._r.xml": strToU8("x"), "a/r.xml": strToU8(XML) }],
    ["files of Windows", { "Thumbs.db": strToU8("x"), "desktop.ini": strToU8("x"), "r.xml": strToU8(XML) }],
  ])("zip with %s beside the report", (_, files) => {
    expect(textsIn(zipSync(files))).toEqual([XML]);
    expect(reasonOf(zipSync(files))).toBe("none");
  });

  test("each file of a zip, also beside a broken one", () => {
    const files = Buffer.from(
      zipSync({ "a.xml": strToU8("<a/>"), "b.xml": strToU8(XML), "c.xml": strToU8("<c/>") }),
    );
    expect(textsIn(files)).toEqual(["<a/>", XML, "<c/>"]);
    const directoryEntry = "PK\x01\x02";
    const second = files.indexOf(directoryEntry, files.indexOf(directoryEntry) + 1);
    files.writeUInt32LE(1, second + 16);
    expect(textsIn(files)).toEqual(["<a/>", "<c/>"]);
    expect(unpack(files, new InflateBudget(LIMIT))[1]).toEqual({
      ok: false,
      name: "b.xml",
      reason: "corrupt",
    });
  });

  test.each(["x^2 + y^2", "hC", "x\u0001", "Hi there", "8=D"])(
    "a text that begins like a zlib stream: %j",
    (text) => {
      expect(textsIn(Buffer.from(text, "latin1"))).toEqual([text]);
    },
  );

  test("a file by its octets, whatever its name", () => {
    expect(textsIn(zip("r.zip", Buffer.from(XML)))).toEqual([XML]);
    expect(textsIn(Buffer.concat([Buffer.from("\r\n"), gzipSync(XML)]))).toEqual([XML]);
  });
});

describe("refused files", () => {
  test.each<[UnpackRefusal, string, Uint8Array]>([
    ["empty", "nothing", new Uint8Array()],
    ["corrupt", "a gzip that is cut in its header", gzipSync(XML).subarray(0, 9)],
    ["corrupt", "a zip that is cut in its header", zip("r.xml", Buffer.from(XML)).subarray(0, 20)],
    ["corrupt", "a gzip with a wrong checksum and no length", wrongChecksum(gzipSync(XML)).subarray(0, -4)],
    ["corrupt", "a gzip with a wrong checksum", wrongChecksum(gzipSync(XML))],
    ["corrupt", "a zlib stream with a wrong checksum", wrongOctet(deflateSync(XML), -1)],
    [
      "corrupt",
      "a cut zip with a wrong checksum",
      withoutDirectory(wrongOctet(zip("r.xml", Buffer.from(XML)), 14)),
    ],
    ["nested_archive", "a zip in a gzip in a zip", zip("a.gz", gzipSync(zip("r.xml", Buffer.from(XML))))],
    ["nested_archive", "a zip in a cut zip", withoutDirectory(zip("a.zip", zip("r.xml", Buffer.from(XML))))],
    [
      "bad_entry_name",
      "a name that climbs in a cut zip",
      withoutDirectory(zip("../r.xml", Buffer.from(XML))),
    ],
    ["too_large", "a cut gzip bomb", gzipSync(Buffer.alloc(60 * 1024 * 1024)).subarray(0, -100)],
    ["too_large", "a cut zip bomb", withoutDirectory(zip("r.xml", Buffer.alloc(60 * 1024 * 1024)))],
    ["too_large", "a zlib bomb", deflateSync(Buffer.alloc(60 * 1024 * 1024))],
    [
      "too_many_entries",
      "a cut zip of ten thousand files",
      withoutDirectory(Buffer.from(zipSync(manyFiles))),
    ],
    ["too_large", "a gzip bomb", gzipSync(Buffer.alloc(60 * 1024 * 1024))],
    ["too_large", "a zip bomb", zip("r.xml", Buffer.alloc(60 * 1024 * 1024))],
    [
      "too_large",
      "a zip bomb that says it is small",
      zip("r.xml", Buffer.alloc(60 * 1024 * 1024), (archive, directory) =>
        archive.writeUInt32LE(10, directory + 24),
      ),
    ],
    ["nested_archive", "a gzip in a gzip", gzipSync(gzipSync(XML))],
    ["nested_archive", "a zip in a zip", zip("r.xml", zip("a.xml", Buffer.from(XML)))],
    ["bad_entry_name", "a name that climbs", zip("../r.xml", Buffer.from(XML))],
    ["bad_entry_name", "an absolute name", zip("/r.xml", Buffer.from(XML))],
    ["bad_entry_name", "a name of another system", zip("C:r.xml", Buffer.from(XML))],
    ["bad_entry_name", "a name that climbs out of a folder", zip("a/../../r.xml", Buffer.from(XML))],
    ["too_many_entries", "ten thousand files", zipSync(manyFiles)],
    [
      "encrypted",
      "a password",
      zip("r.xml", Buffer.from(XML), (archive, at) => archive.writeUInt16LE(1, at + 8)),
    ],
    [
      "corrupt",
      "an unknown method",
      zip("r.xml", Buffer.from(XML), (archive, at) => archive.writeUInt16LE(99, at + 10)),
    ],
    [
      "corrupt",
      "a wrong checksum",
      zip("r.xml", Buffer.from(XML), (archive, at) => archive.writeUInt32LE(1, at + 16)),
    ],
    [
      "corrupt",
      "a file beyond the end",
      zip("r.xml", Buffer.from(XML), (archive, at) => archive.writeUInt32LE(0xfffffff0, at + 42)),
    ],
    [
      "corrupt",
      "a length beyond the end",
      zip("r.xml", Buffer.from(XML), (archive, at) => archive.writeUInt32LE(0xfffffff0, at + 20)),
    ],
  ])("%s: %s", (reason, _, packed) => {
    const start = process.threadCpuUsage();
    expect(reasonOf(packed)).toBe(reason);
    expect(process.threadCpuUsage(start).user / 1_000).toBeLessThan(10_000);
  });

  test("too_large: files of an archive are counted together", () => {
    const files = zipSync({ "a.xml": strToU8("<a/>"), "b.xml": strToU8("<b/>") });
    expect(reasonOf(files, 8)).toBe("none");
    expect(resultsOf(files, new InflateBudget(7))).toEqual(["read", "too_large"]);
  });

  test("too_large: more than the limit, in every format", () => {
    const noise = deflateRawSync(Buffer.from(XML)).toString("hex");
    const content = Buffer.from(`<${noise}`);
    for (const packed of [content, gzipSync(content), zip("r.xml", content)]) {
      expect(reasonOf(packed, content.length - 1)).toBe("too_large");
      expect(reasonOf(packed, content.length)).toBe("none");
    }
  });

  const MB = 1024 * 1024;
  const wrongSum = (archive: Buffer, directory: number) => archive.writeUInt32LE(1, directory + 16);
  const badBlock = (archive: Buffer, directory: number) => archive.fill(0xff, directory - 40, directory);

  test.each<[UnpackRefusal, string, Uint8Array]>([
    ["corrupt", "a zip with a wrong checksum", zip("r.xml", Buffer.alloc(2 * MB), wrongSum)],
    ["corrupt", "a zip whose deflate stream breaks", zip("r.xml", Buffer.alloc(2 * MB), badBlock)],
    ["corrupt", "a gzip with a wrong checksum", wrongChecksum(gzipSync(Buffer.alloc(2 * MB)))],
    ["nested_archive", "a cut gzip in a gzip", gzipSync(gzipSync(randomBytes(2 * MB + 99))).subarray(0, -12)],
    ["nested_archive", "a gzip in a gzip", gzipSync(Buffer.concat([gzipSync(XML), Buffer.alloc(2 * MB)]))],
    ["too_large", "a gzip bomb", gzipSync(Buffer.alloc(11 * MB))],
    ["too_large", "a zip bomb", zip("r.xml", Buffer.alloc(11 * MB))],
  ])("%s: the inflated octets of %s count", (reason, _, packed) => {
    const budget = new InflateBudget(10 * MB);
    expect(resultsOf(packed, budget)).toEqual([reason]);
    expect(budget.left).toBeLessThanOrEqual(8 * MB);
    // The larger one shows that inflating stops at the limit.
    expect(budget.left).toBeGreaterThanOrEqual(0);
  });

  test("too_large: an archive is read up to the first file that is too large", () => {
    const files = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`${at}.xml`, Buffer.alloc(MB)]));
    expect(resultsOf(zipSync(files), new InflateBudget(2 * MB))).toEqual(["read", "read", "too_large"]);
  });

  test("corrupt: directory entries that share one file", () => {
    const files = Buffer.from(zipSync({ "a.xml": strToU8(XML), "b.xml": strToU8(XML) }));
    const second = files.lastIndexOf("PK\x01\x02");
    files.writeUInt32LE(0, second + 42);
    expect(resultsOf(files, new InflateBudget(LIMIT))).toEqual(["read", "corrupt"]);
  });

  test("no input throws: archives changed anywhere", () => {
    const archives = [
      gzipSync(XML),
      zip("r.xml", Buffer.from(XML)),
      deflateSync(XML),
      streamedZip({ a: XML, b: XML }),
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...archives),
        fc.nat(),
        fc.nat(255),
        fc.nat(),
        (archive, at, octet, cut) => {
          const broken = Buffer.from(archive.subarray(0, archive.length - (cut % 40)));
          broken[at % broken.length] = octet;
          expect(() => unpack(broken, new InflateBudget(LIMIT))).not.toThrow();
        },
      ),
      { numRuns: 500 },
    );
  });
});
