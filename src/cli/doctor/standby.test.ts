import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase, type Database } from "#platform/database/pool.ts";
import { testDatabase } from "#test/support/database.ts";
import { type DatabasePair, startDatabasePair } from "#test/support/database-pair.ts";
import { eventually } from "#test/support/eventually.ts";
import { checkStandby, type FoundStandby, judgeStandby } from "./standby.ts";

const other = await testDatabase();
const copy = { identity: "1 2", now: 1_000_000 };
const inOrder: FoundStandby = {
  primary: { ...copy, is_standby: false },
  standby: { ...copy, is_standby: true },
  lag: 0.25,
};

test.each<[string, Partial<FoundStandby>, string, RegExp]>([
  ["a standby that follows", {}, "ok", /0\.3 s old/],
  ["a standby that is late", { lag: 16 }, "warning", /16\.0 s old.*from the primary.*is behind/],
  ["a standby that does not tell its age", { lag: null }, "warning", /does not tell how old/],
  ["a promoted standby", { standby: inOrder.primary, lag: null }, "warning", /is no standby/],
  [
    "a clock that is ahead",
    { standby: { ...inOrder.standby, now: copy.now + 9_000 } },
    "fault",
    /9\.0 s apart.*NTP/,
  ],
  ["another database", { standby: { ...inOrder.standby, identity: "1 3" } }, "fault", /another database/],
])("%s", (_what, change, status, message) => {
  expect(judgeStandby({ ...inOrder, ...change })).toEqual([status, expect.stringMatching(message)]);
});

test("a server that is away is a warning, because reports come from the primary", async () => {
  expect(await checkStandby(other, null)).toEqual([]);
  expect(await checkStandby(other, "postgres://nobody@127.0.0.1:9/none")).toEqual([
    { check: "standby", status: "warning", message: expect.stringMatching(/ECONNREFUSED.*from the primary/) },
  ]);
});

describe.runIf(process.platform === "linux")("real servers", () => {
  let pair: DatabasePair;
  let primary: Database;
  beforeAll(async () => {
    pair = await startDatabasePair();
    primary = createDatabase(pair.primary.url, { size: 2, name: "doctor", onError: () => {} });
  });
  afterAll(async () => {
    await primary.close();
    await pair[Symbol.asyncDispose]();
  });

  test("a standby of this database is in order, and that of another one is a fault", async () => {
    await eventually("a commit to arrive", async () => {
      await pair.primary.ask("select pg_logical_emit_message(true, 'a', 'commit')");
      const [finding] = await checkStandby(primary, pair.standby.url);
      return finding?.status === "ok";
    });
    expect(await checkStandby(other, pair.standby.url)).toMatchObject([{ status: "fault" }]);
    expect(await checkStandby(primary, pair.primary.url)).toMatchObject([
      { status: "warning", message: expect.stringMatching(/is no standby/) },
    ]);
  });
});
