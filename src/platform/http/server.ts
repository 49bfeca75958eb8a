/**
 * The HTTP edge: endpoints become routes. The order of checks is the contract's (decisions, section 1 row 19):
 * rate limit, key, expiry, suspension, scope, body, then the handler's own.
 */
import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type HTTPMethods,
} from "fastify";
import type { Database } from "../database/pool.ts";
import { ApiError } from "../errors.ts";
import { isUuid } from "../ids.ts";
import type { Log } from "../log.ts";
import { type Authenticator, authorize } from "./authenticate.ts";
import { allowOrigins } from "./cors.ts";
import type { Caller, Endpoint } from "./endpoint.ts";
import { asFailure, failure, type Success } from "./envelope.ts";
import {
  Answered,
  answersSql,
  idempotencyKey,
  type Reservation,
  release,
  reserve,
  type StoredAnswer,
} from "./idempotency.ts";
import { parseJsonBody } from "./json-body.ts";
import { readQuery } from "./query.ts";
import type { RateLimiter } from "./rate-limit.ts";
import { bodyReader } from "./validate.ts";

export const API_PREFIX = "/api/v1";

const BODY_LIMIT = 1024 * 1024;
const HEADERS_TIMEOUT_MS = 15_000;
const REQUEST_TIMEOUT_MS = 60_000;
const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const satisfies HTTPMethods[];

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller;
  }
}

export interface ServerOptions {
  readonly endpoints: readonly Endpoint[];
  readonly database: Database;
  readonly authenticator: Authenticator;
  readonly rateLimiter: RateLimiter;
  readonly trustedProxies: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly log: Log;
  /** Told of every answer, for the metrics. */
  readonly onAnswer: (operation: string, status: number, seconds: number) => void;
  /** Everything outside /api/v1: health, metrics, inbox, public pages. */
  readonly pages: (server: FastifyInstance) => void;
}

/** Builds the server without listening. */
export function createServer(options: ServerOptions): FastifyInstance {
  const loggerInstance: FastifyBaseLogger = options.log;
  const server = Fastify({
    loggerInstance,
    disableRequestLogging: true,
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: { headersTimeout: HEADERS_TIMEOUT_MS },
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    forceCloseConnections: "idle",
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 200 },
    requestIdHeader: false,
    genReqId: (request) => saneRequestId(request.headers["x-request-id"]) ?? randomUUID(),
    frameworkErrors: (error, _request, reply) => sendFailure(reply, error, options.log),
    clientErrorHandler: refuseMalformedHttp,
  });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("application/json", { parseAs: "string" }, (_request, text, done) => {
    try {
      done(null, parseJsonBody(text as string));
    } catch (fault) {
      done(fault as Error);
    }
  });
  server.decorateRequest("caller");
  server.addHook("onRequest", async (request, reply) => {
    reply.header("X-Request-Id", request.id);
  });
  server.addHook("onResponse", async (request, reply) => {
    const operation = request.routeOptions.config.operation ?? "other";
    options.onAnswer(operation, reply.statusCode, reply.elapsedTime / 1000);
  });
  server.setErrorHandler((error, request, reply) => sendFailure(reply, error, request.log));
  server.setNotFoundHandler((_request, reply) => sendFailure(reply, new ApiError("NOT_FOUND"), options.log));
  options.pages(server);
  server.register(async (api) => registerEndpoints(api, options), { prefix: API_PREFIX });
  return server;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** Operation id, for metrics and logs. */
    operation?: string;
  }
}

function registerEndpoints(api: FastifyInstance, options: ServerOptions): void {
  allowOrigins(api, options.corsOrigins);
  api.addHook("onRequest", async (request, reply) => {
    reply.headers(await options.rateLimiter.take(request.ip));
    request.caller = await options.authenticator.authenticate(request.headers["x-api-key"]);
  });
  const taken = new Map<string, Set<string>>();
  for (const endpoint of options.endpoints) {
    const url = endpoint.path.replaceAll(/\{(\w+)\}/g, ":$1");
    taken.set(url, (taken.get(url) ?? new Set()).add(endpoint.method));
    const answer = answerer(endpoint, options.database);
    api.route({
      method: endpoint.method,
      url,
      bodyLimit: endpoint.bodyLimit ?? BODY_LIMIT,
      config: { operation: endpoint.id },
      onRequest: async (request) => authorize(endpoint, request.caller),
      handler: answer,
    });
  }
  for (const [url, used] of taken) {
    const allow = [...used].sort().join(", ");
    api.route({
      method: methods.filter((method) => !used.has(method)),
      url,
      handler: async () => {
        throw new ApiError("METHOD_NOT_ALLOWED", `Use ${allow} on this path`, { headers: { Allow: allow } });
      },
    });
  }
  api.setNotFoundHandler(() => {
    throw new ApiError("NOT_FOUND", "There is no such path: see /docs for all of them");
  });
}

/** The route handler of one endpoint: parse, reserve, handle, wrap. */
function answerer(endpoint: Endpoint, database: Database) {
  const readBody = endpoint.body && bodyReader(endpoint.body);

  const success = (data: unknown): StoredAnswer => {
    const message = typeof endpoint.message === "string" ? endpoint.message : endpoint.message(data as never);
    const envelope: Success = { success: true, data, message };
    return { status: endpoint.status ?? 200, body: JSON.stringify(envelope) };
  };

  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { caller } = request;
    const params = request.params as Record<string, string>;
    for (const id of Object.values(params)) if (!isUuid(id)) throw new ApiError("NOT_FOUND");
    const query = readQuery(endpoint.query ?? {}, request.query as Record<string, unknown>);
    const body = readBody?.(request.body);
    const key = endpoint.idempotent && idempotencyKey(request.headers["idempotency-key"]);
    const path = request.url.split("?", 1)[0] ?? request.url;
    const reservation: Reservation | undefined = key
      ? { workspaceId: caller.workspaceId, path, key, answerFor: success }
      : undefined;
    if (reservation) {
      const replayed = await reserve(database, caller.workspaceId, path, reservation.key, body);
      if (replayed) return send(reply.header("Idempotent-Replayed", "true"), replayed);
    }
    const run = async (): Promise<StoredAnswer> => {
      const input = {
        params,
        query,
        body,
        caller,
        requestId: request.id,
        idempotency: reservation,
        log: request.log,
      };
      const result = await endpoint.handle(input as never);
      if (result instanceof Answered) return success(result.data);
      const answer = success(result);
      if (reservation) await database.run(answersSql([{ held: reservation, answer }]));
      return answer;
    };
    return send(reply, reservation ? await keepingFailures(run, reservation, database) : await run());
  };
}

/** A refusal is part of what a key replays; a failure of ours, or 429, gives the key back. */
async function keepingFailures(
  run: () => Promise<StoredAnswer>,
  reservation: Reservation,
  database: Database,
): Promise<StoredAnswer> {
  try {
    return await run();
  } catch (thrown) {
    const { status, error } = asFailure(thrown);
    if (status >= 500 || status === 429) await release(database, reservation);
    else {
      const answer = { status, body: JSON.stringify(failure(error)) };
      await database.run(answersSql([{ held: reservation, answer }]));
    }
    throw thrown;
  }
}

function send(reply: FastifyReply, answer: StoredAnswer): FastifyReply {
  return reply.code(answer.status).type("application/json; charset=utf-8").send(answer.body);
}

function sendFailure(reply: FastifyReply, thrown: unknown, log: { error: Log["error"] }): void {
  const { status, error, isOurFault } = asFailure(thrown);
  if (isOurFault) log.error({ err: thrown, request_id: reply.request.id }, "request failed");
  if (status === 503) reply.header("Retry-After", "5");
  reply
    .headers(error.headers)
    .code(status)
    .type("application/json; charset=utf-8")
    .send(JSON.stringify(failure(error)));
}

/** A caller's own request id, when it is short and plain enough to stand in logs and headers. */
function saneRequestId(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" && /^[\w.:-]{1,100}$/.test(header) ? header : undefined;
}

/** What never became a request: bad request lines, header floods, timeouts before the headers ended. */
function refuseMalformedHttp(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const isLate = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
  const fault = new ApiError(
    "VALIDATION_ERROR",
    isLate ? "The request took too long to arrive" : "Malformed HTTP request",
  );
  const body = JSON.stringify(failure(fault));
  socket.end(
    `HTTP/1.1 ${isLate ? "408 Request Timeout" : "400 Bad Request"}\r\nConnection: close\r\n` +
      `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
