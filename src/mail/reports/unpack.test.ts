import { deflateRawSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { strToU8, zipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { type UnpackRefusal, unpack } from "./unpack.ts";

const BEGINS = /^</;
const XML = `<feedback>${Array.from({ length: 500 }, (_, at) => `<a>${at * 7919}</a>`).join("")}</feedback>`;

function reasonOf(octets: Uint8Array, limit?: number): UnpackRefusal | "none" {
  const result = unpack(octets, BEGINS, limit);
  return result.ok ? "none" : result.reason;
}

/** A zip archive whose directory says what the test wants, of one deflated file. */
function zip(
  name: string,
  content: Buffer,
  change: (archive: Buffer, directory: number) => void = () => {},
): Buffer {
  const archive = Buffer.from(zipSync({ [name]: content }));
  change(archive, archive.lastIndexOf("PK\x01\x02"));
  return archive;
}

describe("what is unpacked", () => {
  test.each<[string, Uint8Array]>([
    ["plain", Buffer.from(XML)],
    ["plain after a byte order mark and blanks", Buffer.from(`\ufeff\n ${XML}`)],
    ["gzip", gzipSync(XML)],
    ["zip", zipSync({ "report.xml": strToU8(XML) })],
    ["zip without compression", zipSync({ "report.xml": [strToU8(XML), { level: 0 }] })],
  ])("%s", (_, packed) => {
    const result = unpack(packed, BEGINS);
    expect(result.ok && result.octets.toString().replace(/^\ufeff\n /, "")).toBe(XML);
  });
});

describe("what is refused", () => {
  test.each<[UnpackRefusal, string, Uint8Array]>([
    ["empty", "nothing", new Uint8Array()],
    ["not_packed", "a text", Buffer.from("hello")],
    ["corrupt", "a gzip that is cut", gzipSync(XML).subarray(0, 100)],
    ["corrupt", "a zip that is cut", zip("r.xml", Buffer.from(XML)).subarray(0, 100)],
    ["ratio_too_high", "a gzip bomb", gzipSync(Buffer.alloc(20 * 1024 * 1024))],
    ["ratio_too_high", "a zip bomb", zip("r.xml", Buffer.alloc(20 * 1024 * 1024))],
    [
      "ratio_too_high",
      "a zip bomb that says it is small",
      zip("r.xml", Buffer.alloc(20 * 1024 * 1024), (archive, directory) =>
        archive.writeUInt32LE(10, directory + 24),
      ),
    ],
    ["nested_archive", "a gzip in a gzip", gzipSync(gzipSync(XML))],
    ["nested_archive", "a zip in a zip", zip("r.xml", zip("a.xml", Buffer.from(XML)))],
    ["nested_archive", "a zip in a zip by name", zip("r.zip", Buffer.from(XML))],
    ["bad_entry_name", "a name that climbs", zip("../r.xml", Buffer.from(XML))],
    ["bad_entry_name", "an absolute name", zip("/r.xml", Buffer.from(XML))],
    ["bad_entry_name", "a name of another system", zip("C:r.xml", Buffer.from(XML))],
    ["bad_entry_name", "a name in a folder", zip("a/r.xml", Buffer.from(XML))],
    ["too_many_entries", "two files", zipSync({ "a.xml": strToU8(XML), "b.xml": strToU8(XML) })],
    [
      "too_many_entries",
      "ten thousand files",
      zipSync(Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`${at}.xml`, new Uint8Array()]))),
    ],
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
    expect(process.threadCpuUsage(start).user / 1_000).toBeLessThan(1_000);
  });

  test("too_large: more than the limit, however it is packed", () => {
    const noise = deflateRawSync(Buffer.from(XML)).toString("hex");
    const content = Buffer.from(`<${noise}`);
    for (const packed of [content, gzipSync(content), zip("r.xml", content)]) {
      expect(reasonOf(packed, content.length - 1)).toBe("too_large");
      expect(reasonOf(packed, content.length)).toBe("none");
    }
  });

  test("nothing throws: archives changed anywhere", () => {
    const archives = [gzipSync(XML), zip("r.xml", Buffer.from(XML))];
    fc.assert(
      fc.property(
        fc.constantFrom(...archives),
        fc.nat(),
        fc.nat(255),
        fc.nat(),
        (archive, at, octet, cut) => {
          const broken = Buffer.from(archive.subarray(0, archive.length - (cut % 40)));
          broken[at % broken.length] = octet;
          expect(() => unpack(broken, BEGINS)).not.toThrow();
        },
      ),
      { numRuns: 500 },
    );
  });
});
