import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createRecordReader } from "./record-parser.ts";

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
  return { rows, openLine: reader.openLine, fault: reader.fault };
}

const alphabet = ["a", "b", "é", ",", ";", '"', '""', "\n", "\r\n", "\r", "\n\n", '","', '"\n'];
const text = fc.array(fc.constantFrom(...alphabet), { maxLength: 40 }).map((parts) => parts.join(""));

test("rows are those of csv-parse, and both find quotes that never close or close too early", () => {
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
      const { rows, openLine, fault } = read(content, ",");
      if (fault !== undefined) expect(() => parse(content, { ...options, relax_quotes: false })).toThrow();
      else if (expected === undefined) expect(openLine).toBeDefined();
      else {
        const isBlank = (cells: readonly string[]) => cells.length === 1 && cells[0] === "";
        expect(rows.map(({ cells }) => cells)).toEqual(expected.filter((cells) => !isBlank(cells)));
        expect(openLine).toBeUndefined();
      }
    }),
    { numRuns: 20_000 },
  );
});

test("rows and lines do not depend on the chunks of the text", () => {
  fc.assert(
    fc.property(text, fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 40 }), (content, lengths) => {
      expect(read(content, ",", lengths)).toEqual(read(content, ","));
    }),
    { numRuns: 10_000 },
  );
});

test("a long row is parsed again when it has doubled, not for each chunk", () => {
  const reader = createRecordReader(",", 1_000_000);
  const looks = new Set<number>();
  for (let piece = 0; piece < 100; piece++) {
    expect(reader.push("x,".repeat(4_000))).toEqual([]);
    looks.add(reader.openLength);
  }
  expect(looks.size).toBeLessThan(10);
  expect(reader.end()).toMatchObject([{ line: 1, cells: { length: 400_001 } }]);
});

test.each([
  ["rows", 'r0,x,Z\nr1,"foo,A\nr2,x,B\nr3,"y",C\nr4,x,D\n', 2],
  ["two rows of an old Mac", 'r0,x\rr1,"foo\rr2,"y"\r', 2],
  ["cells", 'r0,x,Z\nr1,x,Y\nr2,"foo,no,"bar",x\n', 3],
])(
  "two stray quotes do not make one cell of several %s: the reader stops with the line",
  (_name, text, line) => {
    const { rows, fault } = read(text, ",");
    expect(fault).toEqual({ kind: "text behind a closing quote", line });
    expect(rows.map((row) => row.line)).toEqual(Array.from({ length: line - 1 }, (_, at) => at + 1));
  },
);

test.each([
  ['"The" Smith,b', ['"The" Smith', "b"]],
  ['"Ja\\"ne",b', ['Ja"ne', "b"]],
  ['"\\"Ja\\", she said",b', ['"Ja", she said', "b"]],
  ['"a \\"b\\"",c', ['a "b"', "c"]],
  ['"C:\\",b', ["C:\\", "b"]],
  ['"C:\\" ,"b"', ["C:\\", "b"]],
  ['"a\\\n\\"b",c', ['a\\\n"b', "c"]],
])("%s is read as %j", (text, cells) => {
  expect(read(text, ",").rows).toEqual([{ line: 1, cells }]);
});

test.each(["x,".repeat(1_000), `"x",${"x,".repeat(999)}`])(
  "a row with too many cells ends the reading, and is not split further",
  (row) => {
    const reader = createRecordReader(",", 1_000_000, 1_000);
    expect(reader.push(`a,b\n${row}\na,b\n`)).toEqual([{ line: 1, cells: ["a", "b"] }]);
    expect(reader.fault).toEqual({ kind: "too many cells", line: 2 });
  },
);

test("spaces around a quoted cell are not part of it", () => {
  expect(read('a, "b, c" ,d\n"e"\t,f', ",").rows.map(({ cells }) => cells)).toEqual([
    ["a", "b, c", "d"],
    ["e", "f"],
  ]);
});
