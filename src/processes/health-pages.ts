/**
 * /healthz, /readyz and /metrics of a `serve` process: on the server of the API, or, in a process without the role api, on a
 * server of their own (HEALTH_PORT).
 */
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import { findHold } from "#delivery/hold/store.ts";
import type { RateLimit } from "#platform/config/setting-readers.ts";
import type { ProcessContext } from "#platform/context/process-context.ts";
import { ApiError } from "#platform/errors.ts";
import { metricsAccess } from "#platform/http/auth/metrics-access.ts";
import { createRateLimiter } from "#platform/http/auth/rate-limit.ts";
import { HEALTH_RATE, LIVENESS_RATE, type ReadinessCheck, registerHealth } from "#platform/http/health.ts";
import { refuseMalformedHttp } from "#platform/http/request/malformed-request.ts";
import { asFailure, failure } from "#platform/http/response/envelope.ts";
import type { Metrics } from "#platform/metrics.ts";

/** Of the separate server, which only supervisors, load balancers and Prometheus ask. */
const MOST_CONNECTIONS = 200;
const HEADERS_MS = 5_000;
const REQUEST_MS = 10_000;

export interface HealthParts {
  readonly metrics: Metrics;
  /** Additional checks by name, such as the delivery processes. */
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
  /** Whether the process finishes its work and takes no more. Not given where the server stops listening first. */
  readonly isStopping?: () => boolean;
}

export function registerHealthPages(
  server: FastifyInstance,
  { config, log, requests, database }: ProcessContext,
  { isStopping, ...parts }: HealthParts,
): void {
  const ownLimiter = (rate: RateLimit) =>
    createRateLimiter({
      limit: config.RATE_LIMIT && rate,
      redisUrl: null,
      monotonicMs: () => performance.now(),
      log,
    });
  registerHealth(server, {
    database: requests,
    dataDir: config.DATA_DIR,
    metrics: parts.metrics,
    maySeeMetrics: metricsAccess(config),
    rateLimiter: ownLimiter(HEALTH_RATE),
    livenessLimiter: ownLimiter(LIVENESS_RATE),
    checks: parts.checks,
    ...(isStopping && { isStopping }),
    notices: {
      async sending() {
        const hold = await findHold(database);
        return hold === undefined ? null : `held since ${hold.held_at.toISOString()}`;
      },
    },
  });
}

/** A server with these pages and nothing else. It does not listen yet. */
export function createHealthServer(context: ProcessContext, parts: HealthParts): FastifyInstance {
  const loggerInstance: FastifyBaseLogger = context.log;
  const server = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    requestTimeout: REQUEST_MS,
    http: { headersTimeout: HEADERS_MS },
    forceCloseConnections: "idle",
    clientErrorHandler: refuseMalformedHttp,
  });
  server.server.maxConnections = MOST_CONNECTIONS;
  // The pages take no body.
  server.removeAllContentTypeParsers();
  server.setErrorHandler((thrown, _request, reply) => {
    const { status, error, isOurFault } = asFailure(thrown);
    if (isOurFault) context.log.warn({ err: thrown }, "request for the health of the process failed");
    return reply.code(status).headers(error.headers).send(failure(error));
  });
  server.setNotFoundHandler(() => {
    throw new ApiError("NOT_FOUND", "This port has /healthz, /readyz and /metrics only");
  });
  registerHealthPages(server, context, parts);
  return server;
}
