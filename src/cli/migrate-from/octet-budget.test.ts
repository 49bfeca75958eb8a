import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import { OctetBudget } from "./octet-budget.ts";

const chunksOf = (...sizes: readonly number[]) => Readable.from(sizes.map((size) => Buffer.alloc(size)));

test("streams pass up to the limit, and the one that exceeds it ends with a sentence", async () => {
  const budget = new OctetBudget("a.zip unpacks to", 10);
  expect((await buffer(budget.pass(chunksOf(4, 4)))).length).toBe(8);
  await expect(buffer(budget.pass(chunksOf(2, 1)))).rejects.toThrow("a.zip unpacks to more than 10 octets");
});
