import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { readConfig } from "#platform/config/config.ts";
import { testDatabase } from "#test/support/database.ts";
import { eventually } from "#test/support/eventually.ts";
import { DeliveryWorkers, settlesWithin } from "./serve.ts";

const db = await testDatabase();
const dataDir = await mkdtemp(join(tmpdir(), "posthaste-serve-"));
afterAll(() => rm(dataDir, { recursive: true, maxRetries: 5 }));
const { execPath } = process;
const environment = { DATA_DIR: dataDir, MAIL_MODE: "capture", LOG_LEVEL: "silent" };
const logged: string[] = [];
const log = pino({ level: "error" }, { write: (line: string) => void logged.push(JSON.parse(line).msg) });
let workers: DeliveryWorkers;

beforeEach(() => {
  logged.length = 0;
  workers = new DeliveryWorkers(environment, readConfig(environment), db.url, log);
});
afterEach(async () => {
  process.execPath = execPath;
  await workers.stop(1_000);
});

const untilReady = () => eventually("the delivery process to be ready", async () => workers.fault === null);
const childPid = () =>
  Number(execFileSync("pgrep", ["-P", String(process.pid), "-f", "main.ts deliver"], { encoding: "utf8" }));

test("a delivery process that is told to stop is waited for, and not started again", async () => {
  workers.start(1);
  await untilReady();
  await workers.stop(20_000);
  expect(workers.fault).toBe("a delivery process is starting");
  expect(logged).toEqual([]);
});

test("a delivery process that does not stop in time is ended by force", async () => {
  workers.start(1);
  await untilReady();
  process.kill(childPid(), "SIGSTOP");
  await workers.stop(100);
  expect(logged).toEqual(["a delivery process does not stop and is ended by force"]);
});

test("a delivery process that was killed is started again", async () => {
  workers.start(1);
  await untilReady();
  process.kill(childPid(), "SIGKILL");
  await eventually("it to be missed", async () => workers.fault !== null);
  await untilReady();
  expect(logged).toEqual(["a delivery process ended and is started again"]);
});

test("a frozen delivery process is a fault after its time, until it moves again; one with nothing to send is none", async () => {
  const silentMs = 3_000;
  workers = new DeliveryWorkers(environment, readConfig(environment), db.url, log, silentMs);
  workers.start(1);
  await untilReady();
  const begin = performance.now();
  await eventually("twice that time to pass in idleness", async () => {
    expect(workers.fault).toBeNull();
    return performance.now() - begin > 2 * silentMs;
  });
  const pid = childPid();
  process.kill(pid, "SIGSTOP");
  const fault = await eventually("it to be missed", async () => workers.fault ?? undefined);
  expect(fault).toBe("a delivery process has not looked at the queue for 3 s");
  process.kill(pid, "SIGCONT");
  await untilReady();
});

test("a delivery process that cannot be started is tried again, and the service goes on", async () => {
  process.execPath = join(dataDir, "nothing");
  workers.start(1);
  await eventually("the fault to be logged", async () => logged.length > 0);
  expect(workers.fault).toBe("a delivery process is starting");
  process.execPath = execPath;
  await untilReady();
  expect(logged).toEqual(["a delivery process could not be started, told or ended"]);
});

test("a stop waits for every part, whether it ends well or badly, but for none of them for ever", async () => {
  const bad = Promise.reject(new Error("no"));
  expect(await settlesWithin(10_000, [Promise.resolve(), bad, undefined], log)).toBe(true);
  expect(logged).toEqual(["a part of the service stopped badly"]);
  expect(await settlesWithin(20, [Promise.resolve(), new Promise(() => {})], log)).toBe(false);
});
