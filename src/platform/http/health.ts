/**
 * Endpoints for monitoring, outside /api/v1: /healthz (liveness), /readyz (readiness, for load balancers) and /metrics
 * (Prometheus). The first two need no key. Results are cached for a second, so that the database is queried at most once a
 * second.
 */
import { access, constants } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import sql from "sql-template-tag";
import { AsyncCache } from "#platform/cache.ts";
import type { RateLimit } from "#platform/config/setting-readers.ts";
import type { Database } from "#platform/database/pool.ts";
import { inTime, PATIENCE_MS } from "#platform/in-time.ts";
import type { Limit } from "#platform/limits/limit.ts";
import { limits } from "#platform/limits/limits.ts";
import type { Metrics } from "#platform/metrics.ts";
import { freeBytes } from "#platform/process/free-space.ts";
import type { RateLimiter } from "./auth/rate-limit.ts";
import { networkOf } from "./auth/source-network.ts";

/** Gives what is wrong in a few words, or null. An exception counts as "failed". */
export type ReadinessCheck = () => Promise<string | null>;

/** Gives what operators should know although the service is ready, or null. One that cannot be read is left out. */
export type ReadinessNotice = () => Promise<string | null>;

const DEADLINE_MS = 2_000;
const LEAST_FREE_MB = 100;
/** How long results are cached. */
const FRESH_MS = 1_000;
/** Far above what several load balancers and Prometheus need together. */
export const HEALTH_RATE = rateOf(limits.healthLooks);
export const LIVENESS_RATE = rateOf(limits.livenessLooks);
const NO_METRICS =
  "Set METRICS_TOKEN and send it as Authorization: Bearer (docs/monitoring.md#prometheus).\n";

export function registerHealth(
  server: FastifyInstance,
  options: {
    readonly database: Database;
    readonly dataDir: string;
    readonly metrics: Metrics;
    /** Whether a caller may see the metrics. */
    readonly maySeeMetrics: (request: FastifyRequest) => boolean;
    /** For /readyz and /metrics, separate from the limit of the API. */
    readonly rateLimiter: RateLimiter;
    /** For /healthz, so that a supervisor is answered however many other requests come from its network. */
    readonly livenessLimiter: RateLimiter;
    /** Additional checks by name, such as the delivery process. */
    readonly checks: Readonly<Record<string, ReadinessCheck>>;
    readonly notices?: Readonly<Record<string, ReadinessNotice>>;
    /** Whether the process finishes its work and takes no more: /readyz is 503 then. By default it never does. */
    readonly isStopping?: () => boolean;
  },
): void {
  const checks: Readonly<Record<string, ReadinessCheck>> = {
    database: () => databaseFault(options.database),
    disk: () => diskFault(options.dataDir),
    ...options.checks,
  };
  const onLiveness = async (request: FastifyRequest, reply: FastifyReply) => {
    reply.headers(await options.livenessLimiter.take(networkOf(request.ip)));
  };
  server.get("/healthz", { onRequest: onLiveness }, async () => ({ status: "ok" }));
  const look = async () => {
    const [found, notices] = await Promise.all([
      askAll(checks, faultWithin),
      askAll(options.notices ?? {}, noticeWithin),
    ]);
    return {
      isReady: found.every(([, fault]) => fault === null),
      checks: Object.fromEntries(found.map(([name, fault]) => [name, fault ?? "ok"])),
      notices: Object.fromEntries(notices.filter(([, notice]) => notice !== null)),
    };
  };
  const looks = new AsyncCache<Awaited<ReturnType<typeof look>>>({ ms: FRESH_MS, most: 1 });
  const scrapes = new AsyncCache<Awaited<ReturnType<Metrics["scrape"]>>>({ ms: FRESH_MS, most: 1 });
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => {
    reply.headers(await options.rateLimiter.take(networkOf(request.ip)));
  };

  server.get("/readyz", { onRequest }, async (_request, reply) => {
    const { isReady, checks: found, notices } = await looks.get("", look);
    const hasNotices = Object.keys(notices).length > 0;
    const isStopping = options.isStopping?.() ?? false;
    const status = isReady ? "ready" : "not ready";
    return reply
      .code(isReady && !isStopping ? 200 : 503)
      .send({ status: isStopping ? "stopping" : status, checks: found, ...(hasNotices && { notices }) });
  });
  server.get("/metrics", { onRequest }, async (request, reply) => {
    if (!options.maySeeMetrics(request)) {
      return reply
        .code(401)
        .header("WWW-Authenticate", "Bearer")
        .type("text/plain; charset=utf-8")
        .send(NO_METRICS);
    }
    const { contentType, text } = await inTime(
      PATIENCE_MS,
      scrapes.get("", () => options.metrics.scrape()),
    );
    return reply.type(contentType).send(text);
  });
}

function rateOf({ most }: Limit): RateLimit {
  return { perSecond: most, burst: 2 * most };
}

type Question = () => Promise<string | null>;

function askAll(
  questions: Readonly<Record<string, Question>>,
  ask: (question: Question) => Promise<string | null>,
) {
  return Promise.all(
    Object.entries(questions).map(async ([name, question]) => [name, await ask(question)] as const),
  );
}

function faultWithin(check: ReadinessCheck): Promise<string | null> {
  return answerWithin(check, `no answer within ${DEADLINE_MS / 1000} s`).catch(() => "failed");
}

/** A failure is no notice: the checks say what is wrong. */
function noticeWithin(notice: ReadinessNotice): Promise<string | null> {
  return answerWithin(notice, null).catch(() => null);
}

/** @param silence what an answer counts as that does not come in time */
async function answerWithin(question: Question, silence: string | null): Promise<string | null> {
  const late = new AbortController();
  try {
    return await Promise.race([question(), delay(DEADLINE_MS, silence, { signal: late.signal })]);
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

/** Says if DATA_DIR is not writable or has not enough free space; null if neither. */
export async function diskFault(dataDir: string): Promise<string | null> {
  try {
    await access(dataDir, constants.W_OK);
    const freeMb = Math.floor((await freeBytes(dataDir)) / 1024 ** 2);
    return freeMb < LEAST_FREE_MB ? `only ${freeMb} MB free in DATA_DIR` : null;
  } catch {
    return "DATA_DIR cannot be written";
  }
}
