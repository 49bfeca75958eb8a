import { hostname } from "node:os";
import sql from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import { createLog } from "#platform/log/log.ts";
import { version } from "#platform/version.ts";
import { testDatabase } from "#test/support/database.ts";
import { eventually } from "#test/support/eventually.ts";
import { ProcessRegistration } from "./process-registration.ts";
import { countProcesses, listProcesses } from "./running-processes-store.ts";

const db = await testDatabase();
const log = createLog("silent");
beforeEach(() => db.run(sql`truncate running_processes`));
const register = (roles: readonly string[]) => new ProcessRegistration({ db, log, roles });
const untilListed = (count: number) =>
  eventually(`${count} processes`, async () => (await listProcesses(db)).length === count);

test("a process is listed with its machine, roles and version from its start to its stop", async () => {
  const both = [register(["api", "jobs"]), register(["delivery"])];
  await untilListed(2);
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
  const registration = register(["jobs"]);
  await untilListed(1);
  const silentFor = (minutes: number) =>
    db.run(sql`update running_processes set seen_at = now() - make_interval(mins => ${minutes})`);
  await silentFor(1);
  expect(await listProcesses(db)).toMatchObject([{ is_running: false }]);
  expect(await countProcesses(db, ["jobs"])).toEqual({ jobs: 0 });
  await silentFor(11);
  const other = register(["api"]);
  await eventually("the other alone", async () => {
    const rows = await db.rows<{ roles: string[] }>(sql`select roles from running_processes`);
    return rows.length === 1 && rows[0]?.roles[0] === "api";
  });
  await Promise.all([registration.stop(), other.stop()]);
});
