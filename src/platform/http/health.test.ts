import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Fastify from "fastify";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { createDatabase } from "#platform/database/pool.ts";
import { createLog } from "#platform/log/log.ts";
import { createMetrics } from "#platform/metrics.ts";
import { testDatabase } from "#test/support/database.ts";
import { createRateLimiter, unlimited } from "./auth/rate-limit.ts";
import { type ReadinessCheck, type ReadinessNotice, registerHealth } from "./health.ts";

const database = await testDatabase();
let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "posthaste-health-"));
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

async function ask(
  path: string,
  changes: {
    database?: typeof database;
    dataDir?: string;
    check?: ReadinessCheck;
    notices?: Readonly<Record<string, ReadinessNotice>>;
  },
) {
  const server = Fastify();
  registerHealth(server, {
    database,
    dataDir,
    metrics: createMetrics(),
    maySeeMetrics: () => true,
    rateLimiter: unlimited,
    livenessLimiter: unlimited,
    ...changes,
    checks: changes.check ? { delivery: changes.check } : {},
  });
  const { statusCode, headers, body } = await server.inject(path);
  await server.close();
  return { status: statusCode, type: headers["content-type"], body };
}

describe("/readyz", () => {
  it("is 200 if the database, the disk and all other checks are fine", async () => {
    const { status, body } = await ask("/readyz", { check: async () => null });
    expect(status).toBe(200);
    expect(JSON.parse(body)).toEqual({
      status: "ready",
      checks: { database: "ok", disk: "ok", delivery: "ok" },
    });
  });

  it("is 503 and says what is wrong, without the error message", async () => {
    const away = createDatabase("postgres://nobody:secret@127.0.0.1:1/none", {
      size: 1,
      name: "x",
      onError: () => {},
    });
    const check = () => Promise.reject(new Error("secret"));
    const { status, body } = await ask("/readyz", {
      database: { ...away, url: "" },
      dataDir: "/no/such",
      check,
    });
    expect(status).toBe(503);
    expect(JSON.parse(body)).toEqual({
      status: "not ready",
      checks: { database: "does not answer", disk: "DATA_DIR cannot be written", delivery: "failed" },
    });
  });

  it("shows a notice, and leaves out one that cannot be read or does not come", async () => {
    const { status, body } = await ask("/readyz", {
      notices: {
        sending: async () => "held since then",
        unread: () => Promise.reject(new Error("secret")),
        silent: () => new Promise(() => {}),
      },
    });
    expect([status, JSON.parse(body)]).toEqual([
      200,
      { status: "ready", checks: { database: "ok", disk: "ok" }, notices: { sending: "held since then" } },
    ]);
  });

  it("does not wait longer than two seconds for a check", async () => {
    const begin = performance.now();
    const { status, body } = await ask("/readyz", { check: () => new Promise(() => {}) });
    expect(status).toBe(503);
    expect(JSON.parse(body).checks.delivery).toBe("no answer within 2 s");
    expect(performance.now() - begin).toBeLessThan(20_000);
  });
});

it("/healthz makes no checks", async () => {
  expect(await ask("/healthz", { dataDir: "/no/such" })).toMatchObject({
    status: 200,
    body: '{"status":"ok"}',
  });
});

describe("many callers", () => {
  it("share one check of the database within a second", async () => {
    const server = Fastify();
    let looks = 0;
    const counting = {
      ...database,
      run: (statement: Parameters<typeof database.run>[0]) => {
        looks += 1;
        return database.run(statement);
      },
    };
    const metrics = createMetrics();
    let scrapes = 0;
    metrics.gauge({
      name: "scrapes",
      help: "Scrapes.",
      read: () => {
        scrapes += 1;
        return scrapes;
      },
    });
    registerHealth(server, {
      database: counting,
      dataDir,
      metrics,
      maySeeMetrics: () => true,
      rateLimiter: unlimited,
      livenessLimiter: unlimited,
      checks: {},
    });
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => [server.inject("/readyz"), server.inject("/metrics")]).flat(),
    );
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(100).fill(200));
    expect([looks, scrapes]).toEqual([1, 1]);
    await server.close();
  });

  it("have a rate limit of their own", async () => {
    const limiter = () =>
      createRateLimiter({
        limit: { perSecond: 1, burst: 2 },
        redisUrl: null,
        monotonicMs: () => 0,
        log: createLog("silent"),
      });
    const server = Fastify();
    registerHealth(server, {
      database,
      dataDir,
      metrics: createMetrics(),
      maySeeMetrics: () => true,
      rateLimiter: limiter(),
      livenessLimiter: limiter(),
      checks: {},
    });
    const statuses = [];
    for (const path of ["/readyz", "/metrics", "/readyz", "/metrics"]) {
      const { statusCode } = await server.inject(path);
      statuses.push(statusCode);
    }
    expect(statuses).toEqual([200, 200, 429, 429]);
    const alive = await Promise.all([1, 2, 3].map(() => server.inject("/healthz")));
    expect(alive.map(({ statusCode }) => statusCode)).toEqual([200, 200, 429]);
    await server.close();
  });
});

it("/metrics is Prometheus' text format", async () => {
  const { status, type, body } = await ask("/metrics", {});
  expect(status).toBe(200);
  expect(type).toContain("text/plain");
  expect(body).toContain("process_cpu_seconds_total");
});

describe("with a database that does not answer", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("/metrics is 503 within five seconds", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const server = Fastify();
    const metrics = createMetrics();
    const asked = Promise.withResolvers<void>();
    metrics.gauge({
      name: "waiting",
      help: "Never answered.",
      read() {
        asked.resolve();
        return new Promise<number>(() => {});
      },
    });
    registerHealth(server, {
      database,
      dataDir,
      metrics,
      maySeeMetrics: () => true,
      rateLimiter: unlimited,
      livenessLimiter: unlimited,
      checks: {},
    });
    const answer = server.inject("/metrics");
    await asked.promise;
    await vi.advanceTimersByTimeAsync(5_000);
    const { statusCode, headers } = await answer;
    expect([statusCode, headers["retry-after"]]).toEqual([503, "5"]);
    await server.close();
  });
});
