import { hostname } from "node:os";
import sql from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import type { Database } from "#platform/database/pool.ts";
import { createLog, type Log } from "#platform/log/log.ts";
import { version } from "#platform/version.ts";
import { testDatabase } from "#test/support/database.ts";
import { eventually } from "#test/support/eventually.ts";
import { ProcessRegistration } from "./process-registration.ts";
import { countProcesses, listProcesses } from "./running-processes-store.ts";

const db = await testDatabase();
const log = createLog("silent");
beforeEach(() => db.run(sql`truncate running_processes`));
const register = (roles: readonly string[]) => ProcessRegistration.begin({ db, log, roles }, async () => {});

test("a process is listed with its machine, roles and version from its start to its stop", async () => {
  const both = [
    await register(["api", "jobs"]),
    ProcessRegistration.ofChild({ db, log, roles: ["delivery"] }),
  ];
  await eventually("both", async () => (await listProcesses(db)).length === 2);
  expect(await listProcesses(db)).toMatchObject([
    { host: hostname(), pid: process.pid, version, is_running: true },
    { host: hostname(), node_version: process.versions.node, is_running: true },
  ]);
  expect(await countProcesses(db, ["api", "delivery", "inbound"])).toEqual({
    api: 1,
    delivery: 1,
    inbound: 0,
  });
  await Promise.all(both.map((one) => one.stop()));
  expect(await listProcesses(db)).toEqual([]);
});

test("a killed process is listed as silent for some minutes, does not count, and is forgotten", async () => {
  const registration = await register(["jobs"]);
  const silentFor = (minutes: number) =>
    db.run(sql`update running_processes set seen_at = now() - make_interval(mins => ${minutes})`);
  await silentFor(1);
  expect(await listProcesses(db)).toMatchObject([{ is_running: false }]);
  expect(await countProcesses(db, ["jobs"])).toEqual({ jobs: 0 });
  await silentFor(11);
  const other = await register(["api"]);
  expect(await db.rows(sql`select roles from running_processes`)).toEqual([{ roles: ["api"] }]);
  await Promise.all([registration.stop(), other.stop()]);
});

test("a process that has no role of its own is registered and not listed", async () => {
  const registration = await register([]);
  expect(await db.rows(sql`select roles from running_processes`)).toEqual([{ roles: [] }]);
  expect(await listProcesses(db)).toEqual([]);
  await registration.stop();
});

test("a process that must not run is not registered", async () => {
  const refused = ProcessRegistration.begin({ db, log, roles: ["api"] }, async () => {
    throw new Error("no");
  });
  await expect(refused).rejects.toThrow("no");
  expect(await db.rows(sql`select from running_processes`)).toEqual([]);
});

test("an outage of the database is logged at its beginning and at its end", async () => {
  const lines: string[] = [];
  const loud = {
    info: (text: string) => lines.push(text),
    warn: (_: object, text: string) => lines.push(text),
  } as unknown as Log;
  let isAway = false;
  const flaky: Database = {
    ...db,
    run: (statement) => (isAway ? Promise.reject(new Error("away")) : db.run(statement)),
  };
  const registration = await ProcessRegistration.begin(
    { db: flaky, log: loud, roles: ["api"] },
    async () => {},
  );
  isAway = true;
  for (let at = 0; at < 3; at++) await registration.renew();
  isAway = false;
  for (let at = 0; at < 3; at++) await registration.renew();
  expect(lines).toEqual([
    "process could not be registered as running, trying again",
    "process is registered as running again",
  ]);
  await registration.stop();
});
