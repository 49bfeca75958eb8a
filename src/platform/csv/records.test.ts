import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createRecordReader } from "./records.ts";

/** All rows of a text that comes in pieces of these lengths, and the line of a row that never ends. */
function read(text: string, delimiter: string, lengths: readonly number[] = []) {
  const reader = createRecordReader(delimiter, 1_000_000);
  const rows = [];
  let at = 0;
  for (const length of lengths) {
    rows.push(...reader.push(text.slice(at, at + length)));
    at += length;
  }
  rows.push(...reader.push(text.slice(at)), ...reader.end());
  return { rows, openLine: reader.openLine };
}

const alphabet = ["a", "b", "é", ",", ";", '"', '""', "\n", "\r\n", "\r", "\n\n", '","', '"\n'];
const text = fc.array(fc.constantFrom(...alphabet), { maxLength: 40 }).map((parts) => parts.join(""));

test("rows are those of csv-parse, and a quote that never closes is missed by neither", () => {
  const options = {
    delimiter: ",",
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_quotes: true,
    relax_column_count: true,
  };
  fc.assert(
    fc.property(text, (content) => {
      let expected: string[][] | undefined;
      try {
        expected = parse(content, options);
      } catch {
        expected = undefined;
      }
      const { rows, openLine } = read(content, ",");
      if (expected === undefined) expect(openLine).toBeDefined();
      else {
        const isBlank = (cells: readonly string[]) => cells.length === 1 && cells[0] === "";
        expect(rows.map(({ cells }) => cells)).toEqual(expected.filter((cells) => !isBlank(cells)));
        expect(openLine).toBeUndefined();
      }
    }),
    { numRuns: 20_000 },
  );
});

test("rows and lines are the same in whatever pieces the text comes", () => {
  fc.assert(
    fc.property(text, fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 40 }), (content, lengths) => {
      expect(read(content, ",", lengths)).toEqual(read(content, ","));
    }),
    { numRuns: 10_000 },
  );
});

test("a long row is gone through again when there is twice as much of it, not for each piece", () => {
  const reader = createRecordReader(",", 1_000_000);
  const looks = new Set<number>();
  for (let piece = 0; piece < 100; piece++) {
    expect(reader.push("x,".repeat(4_000))).toEqual([]);
    looks.add(reader.openLength);
  }
  expect(looks.size).toBeLessThan(10);
  expect(reader.end()).toMatchObject([{ line: 1, cells: { length: 400_001 } }]);
});

test("blanks round a quoted cell are not part of it", () => {
  expect(read('a, "b, c" ,d\n"e"\t,f', ",").rows.map(({ cells }) => cells)).toEqual([
    ["a", "b, c", "d"],
    ["e", "f"],
  ]);
});
