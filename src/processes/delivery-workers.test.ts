import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { readConfig } from "#platform/config/config.ts";
import { testDatabase } from "#test/support/database.ts";
import { eventually } from "#test/support/eventually.ts";
import { DeliveryWorkers } from "./delivery-workers.ts";

const db = await testDatabase();
const dataDir = await mkdtemp(join(tmpdir(), "posthaste-workers-"));
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

test("stop waits for the delivery process to exit and does not restart it", async () => {
  workers.start(1);
  await untilReady();
  await workers.stop(20_000);
  expect(workers.fault).toBe("a delivery process is starting");
  expect(logged).toEqual([]);
});

test("a delivery process that does not stop in time is killed", async () => {
  workers.start(1);
  await untilReady();
  process.kill(childPid(), "SIGSTOP");
  await workers.stop(100);
  expect(logged).toEqual(["delivery process does not stop: killing it"]);
});

test("a killed delivery process is restarted", async () => {
  workers.start(1);
  await untilReady();
  process.kill(childPid(), "SIGKILL");
  await eventually("the fault to be noticed", async () => workers.fault !== null);
  await untilReady();
  expect(logged).toEqual(["delivery process exited, restarting it"]);
});

test("a frozen delivery process is a fault until it continues; an idle one is no fault", async () => {
  const silentMs = 3_000;
  workers = new DeliveryWorkers(environment, readConfig(environment), db.url, log, () => {}, silentMs);
  workers.start(1);
  await untilReady();
  const begin = performance.now();
  await eventually("twice that time to pass without mail", async () => {
    expect(workers.fault).toBeNull();
    return performance.now() - begin > 2 * silentMs;
  });
  const pid = childPid();
  process.kill(pid, "SIGSTOP");
  const fault = await eventually("the fault to be noticed", async () => workers.fault ?? undefined);
  expect(fault).toBe("a delivery process has not looked at the queue for 3 s");
  process.kill(pid, "SIGCONT");
  await untilReady();
});

test("a delivery process that cannot be started is retried while the service runs", async () => {
  process.execPath = join(dataDir, "nothing");
  workers.start(1);
  await eventually("the fault to be logged", async () => logged.length > 0);
  expect(workers.fault).toBe("a delivery process is starting");
  process.execPath = execPath;
  await untilReady();
  expect(logged).toEqual(["delivery process could not be started, signalled or sent a message"]);
});
