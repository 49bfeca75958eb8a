import fc from "fast-check";
import sql, { type Sql } from "sql-template-tag";
import { expect, test } from "vitest";
import { testDatabase } from "#test/support/database.ts";
import { byteaArray, integerArray, textArray, timestamptzArray, uuidArray } from "./binary-arrays.ts";

const database = await testDatabase();

/** The array as PostgreSQL reads it. */
const read = async (array: Sql) =>
  (await database.row<{ value: unknown }>(sql`select ${array} as value`))?.value;

const text = fc.string({ unit: "grapheme" }).filter((value) => !value.includes("\0"));
const nullable = <Value>(value: fc.Arbitrary<Value>) => fc.array(fc.option(value));

test.each<[string, fc.Arbitrary<unknown[]>, (values: never[]) => Sql]>([
  ["texts", nullable(text), (values) => sql`${textArray(values)}::text[]`],
  ["ids", nullable(fc.uuid()), (values) => sql`${uuidArray(values)}::uuid[]`],
  ["integers", fc.array(fc.integer()), (values) => sql`${integerArray(values)}::integer[]`],
  [
    "times",
    fc.array(fc.date({ min: new Date(0), max: new Date("9999-12-31"), noInvalidDate: true })),
    (values) => sql`${timestamptzArray(values)}::timestamptz[]`,
  ],
  [
    "octets",
    fc.array(fc.uint8Array().map((octets) => Buffer.from(octets))),
    (values) => sql`${byteaArray(values)}::bytea[]`,
  ],
])("%s are unchanged", async (_what, arrays, send) => {
  await fc.assert(
    fc.asyncProperty(arrays, async (values) => {
      expect(await read(send(values as never[]))).toEqual(values);
    }),
    { numRuns: 100 },
  );
});

test("a text with characters that literals escape is unchanged", async () => {
  const values = ['"', "\\", "{,}", "", "NULL", "null", null, "\ud800", "ä𝄞"];
  const understood = values.map((value) => value?.toWellFormed() ?? null);
  expect(await read(sql`${textArray(values)}::text[]`)).toEqual(understood);
});

test("an empty array is empty", async () => {
  for (const empty of [
    sql`${textArray([])}::text[]`,
    sql`${uuidArray([])}::uuid[]`,
    sql`${integerArray([])}::integer[]`,
    sql`${timestamptzArray([])}::timestamptz[]`,
    sql`${byteaArray([])}::bytea[]`,
  ]) {
    expect(await read(sql`cardinality(${empty})`)).toBe(0);
    expect(await read(sql`${empty} = '{}'`)).toBe(true);
  }
});

test.each([
  "",
  "0190a1b2",
  "0190a1b2-0000-7000-8000-00000000000",
  "0190a1b2-0000-7000-8000-00000000000g",
  "0190a1b2-0000-7000-8000-0000000000000000",
])("an invalid id is not sent: %j", (value) => {
  const id = "0190a1b2-0000-7000-8000-000000000000";
  for (const ids of [[value], [value, id], [id, value], [value, null]]) {
    expect(() => uuidArray(ids)).toThrow("is not a UUID");
  }
});
