import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { createRateLimiter, type RateLimiter } from "./rate-limit.ts";

const hasRedis = spawnSync("redis-server", ["--version"]).status === 0;
const limit = { perSecond: 5, burst: 20 };

/** Limiters of one test, as many machines; closed after it. */
const limiters: RateLimiter[] = [];
function machine(port: number, log = pino({ level: "silent" })): RateLimiter {
  const limiter = createRateLimiter({
    limit,
    redisUrl: new URL(`redis://127.0.0.1:${port}`),
    monotonicMs: () => performance.now(),
    log,
  });
  limiters.push(limiter);
  return limiter;
}
afterEach(async () => {
  await Promise.all(limiters.splice(0).map((limiter) => limiter.close()));
});

/** A log whose lines a test can read. */
function recordedLog() {
  const lines: string[] = [];
  return { lines, log: pino({}, { write: (line: string) => void lines.push(JSON.parse(line).msg) }) };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** One whose bucket is full. */
const freshAddress = () => `fc00:0:0:${randomBytes(2).toString("hex")}::1`;

/** How many of `count` requests at once from one address are admitted. */
async function admittedOf(limiters: readonly RateLimiter[], address: string, count: number): Promise<number> {
  const calls = Array.from({ length: count }, async (_, index) => {
    await limiters[index % limiters.length]?.take(address);
  });
  const answers = await Promise.allSettled(calls);
  return answers.filter((answer) => answer.status === "fulfilled").length;
}

describe("without a Redis that answers", () => {
  it("the limit holds on this machine, and the log says so once", async () => {
    const { lines, log } = recordedLog();
    const limiter = machine(await freePort(), log);
    await limiter.take("192.0.2.1");
    await vi.waitFor(() => expect(lines).toHaveLength(1), { timeout: 5_000 });
    expect(await admittedOf([limiter], "192.0.2.2", 100)).toBe(limit.burst);
    expect(lines).toEqual(["Redis is unreachable: the rate limit is counted on this machine only"]);
  });
});

describe.skipIf(!hasRedis)("with a Redis", () => {
  let server: ChildProcess;
  let port: number;

  beforeAll(async () => {
    port = await freePort();
    const settings = ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
    server = spawn("redis-server", settings, { stdio: "ignore" });
  });
  afterAll(() => {
    server.kill("SIGKILL");
  });

  /** Waits until both count in the same place: until then each counts for itself. */
  async function untilShared(one: RateLimiter, other: RateLimiter): Promise<void> {
    await vi.waitFor(
      async () => {
        const address = freshAddress();
        await one.take(address);
        expect(await other.take(address)).toMatchObject({ "RateLimit-Remaining": `${limit.burst - 2}` });
      },
      { timeout: 10_000 },
    );
  }

  async function sharingMachines(log?: pino.Logger): Promise<[RateLimiter, RateLimiter]> {
    const machines: [RateLimiter, RateLimiter] = [machine(port, log), machine(port, log)];
    await untilShared(...machines);
    return machines;
  }

  it("several machines admit one burst together", async () => {
    const machines = await sharingMachines();
    // On a busy machine one may wait for Redis beyond the deadline, and then counts alone for a second.
    await vi.waitFor(async () => expect(await admittedOf(machines, freshAddress(), 150)).toBe(limit.burst), {
      timeout: 10_000,
    });
  });

  it("tokens come back at the rate by the server's clock", async () => {
    const machines = await sharingMachines();
    const begin = performance.now();
    let admitted = await admittedOf(machines, "192.0.2.11", 100);
    while (performance.now() - begin < 1_000) admitted += await admittedOf(machines, "192.0.2.11", 2);
    const seconds = (performance.now() - begin) / 1000;
    expect(admitted).toBeGreaterThanOrEqual(limit.burst + limit.perSecond - 1);
    expect(admitted).toBeLessThanOrEqual(Math.ceil(limit.burst + limit.perSecond * seconds));
  });

  it("a frozen Redis delays no request beyond the deadline, and the limit is shared again when it responds", async () => {
    const { lines, log } = recordedLog();
    const [one, two] = await sharingMachines(log);
    server.kill("SIGSTOP");
    // Redis answers nothing until both have been counted.
    await one.take("192.0.2.12");
    await one.take("192.0.2.12");
    server.kill("SIGCONT");
    await untilShared(one, two);
    expect(lines).toContain("Redis is reachable: the rate limit is shared again");
  });
});
