/**
 * What machines ask about this process, outside /api/v1 and without a key: /healthz (it lives), /readyz (it can work;
 * load balancers ask this), /metrics (Prometheus). They listen where the API listens: whoever opens HOST to the world
 * lets its proxy keep /metrics inside (docs/operations.md).
 */
import { access, constants, statfs } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import sql from "sql-template-tag";
import type { Database } from "../database/pool.ts";
import type { Metrics } from "../metrics.ts";

/** Says what is wrong in a few words, or null. Throwing counts as wrong without words. */
export type ReadinessCheck = () => Promise<string | null>;

const DEADLINE_MS = 2_000;
const LEAST_FREE_MB = 100;

export function registerHealth(
  server: FastifyInstance,
  options: {
    readonly database: Database;
    readonly dataDir: string;
    readonly metrics: Metrics;
    /** Further ones by name, such as the delivery process. */
    readonly checks: Readonly<Record<string, ReadinessCheck>>;
  },
): void {
  const checks: Readonly<Record<string, ReadinessCheck>> = {
    database: () => databaseFault(options.database),
    disk: () => diskFault(options.dataDir),
    ...options.checks,
  };
  server.get("/healthz", async () => ({ status: "ok" }));
  server.get("/readyz", async (_request, reply) => {
    const found = await Promise.all(
      Object.entries(checks).map(
        async ([name, check]) => [name, (await faultWithin(check)) ?? "ok"] as const,
      ),
    );
    const isReady = found.every(([, state]) => state === "ok");
    return reply
      .code(isReady ? 200 : 503)
      .send({ status: isReady ? "ready" : "not ready", checks: Object.fromEntries(found) });
  });
  server.get("/metrics", async (_request, reply) => {
    const { contentType, text } = await options.metrics.scrape();
    return reply.type(contentType).send(text);
  });
}

async function faultWithin(check: ReadinessCheck): Promise<string | null> {
  const late = new AbortController();
  try {
    return await Promise.race([
      check(),
      delay(DEADLINE_MS, `no answer within ${DEADLINE_MS / 1000} s`, { signal: late.signal }),
    ]);
  } catch {
    return "failed";
  } finally {
    late.abort();
  }
}

async function databaseFault(database: Database): Promise<string | null> {
  return database.run(sql`select 1`).then(
    () => null,
    () => "does not answer",
  );
}

/** What is wrong with the folder, or with the room there is in it; null: nothing. */
export async function diskFault(dataDir: string): Promise<string | null> {
  try {
    await access(dataDir, constants.W_OK);
    const { bavail, bsize } = await statfs(dataDir);
    const freeMb = Math.floor((bavail * bsize) / 1024 ** 2);
    return freeMb < LEAST_FREE_MB ? `only ${freeMb} MB free in DATA_DIR` : null;
  } catch {
    return "DATA_DIR cannot be written";
  }
}
