import { Writable } from "node:stream";
import { pino } from "pino";
import { expect, test } from "vitest";
import { adviseHugePages } from "./embedded.ts";

/** A server with these settings, and what is logged about it. */
async function advice(status: string, wanted: number): Promise<unknown[]> {
  const lines: unknown[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  const query = async () => ({ rows: [{ status, wanted }] });
  await adviseHugePages({ query } as never, pino({ level: "debug" }, stream));
  return lines;
}

test("the number of huge pages is logged only for much shared memory without huge pages", async () => {
  expect(await advice("off", 1_600)).toMatchObject([{ nr_hugepages: 1_600 }]);
  expect(await advice("on", 1_600)).toEqual([]);
  expect(await advice("off", 100)).toEqual([]);
  // Where the system has no such thing.
  expect(await advice("off", -1)).toEqual([]);
});
