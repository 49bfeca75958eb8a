/**
 * The HTTP server: turns endpoints into routes. A request is checked in this order: rate limit, key, expiry, suspension,
 * permission, body, then by the handler.
 */

import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import multipart from "@fastify/multipart";
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from "fastify";
import type { InsertAuditEvent } from "#platform/audit/audit-event.ts";
import { type Clock, systemClock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { ApiError, invalid } from "#platform/errors.ts";
import { isUuid, type WorkspaceId } from "#platform/ids.ts";
import { inTime, PATIENCE_MS } from "#platform/in-time.ts";
import { type HttpLimits, httpLimits } from "#platform/limits/http-limits.ts";
import type { Log } from "#platform/log/log.ts";
import { RepeatedFaults } from "#platform/log/repeated-faults.ts";
import { type AuditedRequest, AuditHook } from "./audit-operation.ts";
import { type Caller, type SignedIn, type Visitor, workspaceCaller } from "./auth/caller.ts";
import type { RateLimiter } from "./auth/rate-limit.ts";
import {
  CookieJar,
  isHttps,
  requireNotCrossSite,
  requireSameOrigin,
  SESSION_COOKIE,
} from "./auth/session-cookie.ts";
import { networkOf, trustedProxies } from "./auth/source-network.ts";
import { type Authenticator, authorize } from "./authenticate.ts";
import { allowOrigins } from "./cors.ts";
import { BODY_LIMIT, type Endpoint, type Needs } from "./endpoint.ts";
import { ProcessLiveness } from "./idempotency/process-liveness.ts";
import { UnsettledKeys } from "./idempotency/retry-unsettled-keys.ts";
import { Connections } from "./limit-connections.ts";
import { watchMethods } from "./method-not-allowed.ts";
import { PipelinedRequests } from "./pipelined-requests.ts";
import { watchArrivingBodies } from "./request/body-budget.ts";
import { JsonReader } from "./request/json-reader.ts";
import { refuseExpectation, refuseMalformedHttp, requirePlainRequest } from "./request/malformed-request.ts";
import { ignoreBodies, takeBodies } from "./request/read-body.ts";
import { announcesBody, answerBeforeBodies } from "./request/unread-body.ts";
import { fileFieldOf, formLimit } from "./request/uploads.ts";
import { asFailure, failure } from "./response/envelope.ts";
import { EventStreams } from "./response/event-stream.ts";
import { html, sendPage } from "./response/html-page.ts";
import { UnsentResponses } from "./response/unsent-responses.ts";
import { clientOf, routeHandler } from "./route-handler.ts";

/** Monitoring paths, which have their own rate limits (health.ts). */
const unlimitedPaths = new Set(["/healthz", "/readyz", "/metrics"]);

export const API_PREFIX = "/api/v1";

const MOST_CONNECTIONS = 10_000;
/** Path and headers together; twice the default of Node.js, so that a far too long key is answered with 401. */
const MOST_HEADER_BYTES = 32 * 1024;

/** How long a request may take to arrive, and a response to be read. */
export interface Patience {
  readonly headersMs: number;
  readonly requestMs: number;
  /** How long a body may make no progress. */
  readonly stallMs: number;
  /** How long a client may read nothing of its response. */
  readonly unreadMs: number;
  /** Interval of the checks for late requests. */
  readonly checkMs: number;
  /** Interval of the comments in streams of events. */
  readonly heartbeatMs: number;
}

const PATIENCE: Patience = {
  headersMs: 15_000,
  requestMs: 60_000,
  stallMs: 10_000,
  unreadMs: 60_000,
  checkMs: 2_000,
  heartbeatMs: 15_000,
};

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | SignedIn | Visitor;
    cookies: CookieJar;
    rawReply: ServerResponse;
    /** How long the look-up of the key took. */
    waitedMs: number;
    /** Whether the answer is a stream of events, which counts as answered with its headers. */
    isStream: boolean;
  }
  interface FastifyContextConfig {
    /** Operation id, for metrics and logs. */
    operation?: string;
    needs?: Needs;
  }
}

export interface ServerOptions {
  readonly endpoints: readonly Endpoint[];
  readonly database: Database;
  /** Folder for uploads, which are kept until the response. */
  readonly dataDir: string;
  readonly authenticator: Authenticator;
  readonly rateLimiter: RateLimiter;
  readonly trustedProxies: readonly string[];
  readonly corsOrigins: readonly string[];
  /** PUBLIC_URL. */
  readonly publicUrl?: URL | null;
  readonly log: Log;
  readonly clock?: Clock;
  /** Writes an event of the audit log; without it there is none. */
  readonly insertAuditEvent?: InsertAuditEvent;
  /** Called for every response, for the metrics. */
  readonly onAnswer: (operation: string, status: number, seconds: number) => void;
  /** Called for every response to a request of an API key. */
  readonly onKeyAnswer?: (answer: KeyAnswer) => void;
  /** Everything outside /api/v1: health, metrics, inbox, public pages. */
  readonly pages: (server: FastifyInstance) => void;
  readonly patience?: Partial<Patience>;
  /** How long a request waits for the database in total; default: PATIENCE_MS. */
  readonly databaseMs?: number | undefined;
  /** Override those of `httpLimits`. */
  readonly limits?: Partial<HttpLimits>;
}

/** A response to a request of an API key. */
export interface KeyAnswer {
  readonly workspaceId: WorkspaceId;
  readonly keyId: string;
  /** Operation id; null for a path that does not exist. */
  readonly operation: string | null;
  /** HTTP status. */
  readonly status: number;
  /** Milliseconds from the request to the end of the response. */
  readonly ms: number;
  readonly requestId: string;
}

/** Creates the server; it does not listen yet. */
export function createServer(options: ServerOptions): FastifyInstance {
  const loggerInstance: FastifyBaseLogger = options.log;
  const faults = new RepeatedFaults(options.log);
  const { headersMs, requestMs, stallMs, unreadMs, checkMs } = { ...PATIENCE, ...options.patience };
  const limits: HttpLimits = { ...httpLimits, ...options.limits };
  const isProxy = trustedProxies("TRUSTED_PROXIES", options.trustedProxies);
  const turns = new PipelinedRequests(limits.unansweredOfConnection);
  const server = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    // Log lines name the request id themselves: a logger for each request would take 4 % of the time of accepting a
    // message.
    childLoggerFactory: (logger) => logger,
    bodyLimit: BODY_LIMIT,
    requestTimeout: requestMs,
    http: {
      ...turns.serverOptions,
      maxHeaderSize: MOST_HEADER_BYTES,
      headersTimeout: headersMs,
      connectionsCheckingInterval: checkMs,
      requireHostHeader: false,
    },
    trustProxy: options.trustedProxies.length > 0 ? isProxy : false,
    forceCloseConnections: "idle",
    // Ids of any length reach the handler, so that an invalid id is answered like an unknown one.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MOST_HEADER_BYTES },
    requestIdHeader: false,
    genReqId: (request) => saneRequestId(request.headers["x-request-id"]) ?? randomUUID(),
    frameworkErrors: (_error, request, reply) => refuseUnreadablePath(request, reply, faults),
    clientErrorHandler: refuseMalformedHttp,
  });
  server.server.maxConnections = MOST_CONNECTIONS;
  // Pages accept no body unless they add a parser.
  server.removeAllContentTypeParsers();
  server
    .decorateRequest("caller")
    .decorateRequest("cookies")
    .decorateRequest("rawReply")
    .decorateRequest("bodyDigest", null);
  server.decorateRequest("waitedMs", 0).decorateRequest("isStream", false);
  server.server.on("checkExpectation", refuseExpectation);
  // 100 Continue is sent when the body is read, and not before (body-budget.ts).
  server.server.on("checkContinue", (request, response) => server.server.emit("request", request, response));
  turns.watch(server.server);
  new Connections(limits, isProxy).watch(server);
  new UnsentResponses(limits, unreadMs).watch(server);
  watchArrivingBodies(server, limits, stallMs);
  answerBeforeBodies(server);
  server.addHook("onRequest", async (request, reply) => {
    request.rawReply = reply.raw;
    reply.header("X-Request-Id", request.id);
    requirePlainRequest(request.raw);
    request.cookies = new CookieJar(request.headers.cookie, isHttps(request, options.publicUrl ?? null));
    if (!unlimitedPaths.has(request.url)) {
      reply.headers(await options.rateLimiter.take(rateHolder(request, options.authenticator)));
    }
  });
  server.addHook("onResponse", async (request, reply) => {
    const operation = request.routeOptions.config.operation ?? "other";
    const { statusCode: status, elapsedTime: ms } = reply;
    if (!request.isStream) options.onAnswer(operation, status, ms / 1000);
    // The audit trail. A request that was refused before authentication has no caller.
    const caller = workspaceCaller(request.caller);
    const answer = { operation, status, ms: Math.round(ms) };
    options.log.debug({ request_id: request.id, ...answer, workspace_id: caller?.workspaceId }, "answered");
    if (caller?.actor.kind !== "key") return;
    const { workspaceId, actor } = caller;
    const { operation: named = null } = request.routeOptions.config;
    options.onKeyAnswer?.({
      ...answer,
      workspaceId,
      keyId: actor.id,
      operation: named,
      requestId: request.id,
    });
  });
  // After authentication, and before a body is read.
  server.addHook("preParsing", (request, _reply, _payload, done) =>
    done(request.is404 ? unknownPath(request) : null),
  );
  server.setErrorHandler((error, _request, reply) => sendFailure(reply, error, faults));
  server.setNotFoundHandler((request) => {
    throw unknownPath(request);
  });
  const refuseOtherMethods = watchMethods(server, API_PREFIX);
  options.pages(server);
  server.register(async (api) => registerEndpoints(api, options), { prefix: API_PREFIX });
  server.register(async () => refuseOtherMethods());
  return server;
}

/**
 * The bucket of the rate limit: the session of a person, or the network of the client. People behind one address have a
 * bucket each; a cookie that is no valid session counts for the network.
 */
function rateHolder(request: FastifyRequest, authenticator: Authenticator): string {
  const token = request.headers["x-api-key"] === undefined ? request.cookies.get(SESSION_COOKIE) : undefined;
  const session = token === undefined ? undefined : authenticator.recentSession(token);
  return session === undefined ? networkOf(request.ip) : `session ${session}`;
}

/**
 * The caller: of X-API-Key, or of the session cookie together with X-Workspace. Downloads and event streams, for which
 * a page can set no header, name the workspace as `?workspace=`.
 * @throws ApiError UNAUTHORIZED, FORBIDDEN, SECOND_FACTOR_REQUIRED; VALIDATION_ERROR without a workspace
 */
async function identify(
  request: FastifyRequest,
  { authenticator }: ServerOptions,
): Promise<Caller | SignedIn | Visitor> {
  const { headers, cookies, routeOptions, is404 } = request;
  const { needs } = routeOptions.config;
  if (needs === "public") {
    requireNotCrossSite(request, cookies.isSecure);
    return { actor: null };
  }
  const isForPeople = needs === "signed in" || needs === "operator";
  const token = cookies.get(SESSION_COOKIE);
  if (headers["x-api-key"] !== undefined || token === undefined) {
    if (isForPeople && headers["x-api-key"] === undefined) {
      throw new ApiError("UNAUTHORIZED", "Sign in: this operation is for people");
    }
    return authenticator.authenticate(headers["x-api-key"]);
  }
  requireSameOrigin(request, cookies.isSecure);
  if (isForPeople || is404) return authenticator.person(token);
  const workspaceId = workspaceNamedBy(request);
  return authenticator.member(token, workspaceId);
}

function workspaceNamedBy({ headers, query, method }: FastifyRequest): string {
  const header = headers["x-workspace"];
  const named = header ?? (method === "GET" ? (query as { workspace?: unknown }).workspace : undefined);
  if (typeof named === "string" && isUuid(named)) return named.toLowerCase();
  throw invalid({ field: "X-Workspace", message: "name the workspace by its id in the X-Workspace header" });
}

function registerEndpoints(api: FastifyInstance, options: ServerOptions): void {
  const { database, dataDir, databaseMs = PATIENCE_MS, clock = systemClock } = options;
  allowOrigins(api, options.corsOrigins);
  api.addHook("onRequest", async (request) => {
    const began = performance.now();
    request.caller = await inTime(databaseMs, identify(request, options));
    request.waitedMs = performance.now() - began;
  });
  const streams = new EventStreams(
    options.patience?.heartbeatMs ?? PATIENCE.heartbeatMs,
    ({ routeOptions }, ms) => options.onAnswer(routeOptions.config.operation ?? "other", 200, ms / 1000),
  );
  streams.watch(api);
  const liveness = new ProcessLiveness(options.database);
  api.addHook("onReady", async () => void liveness.start());
  api.addHook("onClose", () => liveness.end());
  const unsettled = new UnsettledKeys(database);
  const { insertAuditEvent: insert, endpoints, log } = options;
  const audit = insert && new AuditHook(endpoints, { database, insert, log });
  const deps = { database, dataDir, databaseMs, liveness, unsettled, audit, streams };
  const add = (scope: FastifyInstance, endpoint: Endpoint, bodyLimit: number) =>
    scope.route({
      method: endpoint.method,
      url: urlOf(endpoint),
      bodyLimit,
      config: { operation: endpoint.id, needs: endpoint.needs },
      onRequest: async (request) => {
        try {
          authorize(endpoint, request.caller, clock.now());
        } catch (fault) {
          audit?.noteRefusal(endpoint, auditedRequestOf(request), fault);
          throw fault;
        }
      },
      handler: routeHandler(endpoint, deps),
    });
  const isForm = ({ body }: Endpoint) => fileFieldOf(body) !== undefined;
  const reader = new JsonReader();
  api.addHook("onClose", () => reader.close());
  takeBodies(api, "application/json", (body, request) => reader.read(request, body));
  for (const endpoint of options.endpoints.filter((endpoint) => endpoint.body && !isForm(endpoint))) {
    add(api, endpoint, endpoint.bodyLimit ?? BODY_LIMIT);
  }
  api.register(async (scope) => {
    ignoreBodies(scope);
    for (const endpoint of options.endpoints.filter(({ body }) => body === undefined)) {
      add(scope, endpoint, BODY_LIMIT);
    }
  });
  // In a separate scope without body parsers: the endpoint reads the form itself, and refuses other bodies.
  api.register(async (scope) => {
    ignoreBodies(scope);
    await scope.register(multipart);
    for (const endpoint of options.endpoints.filter(isForm)) {
      add(scope, endpoint, formLimit(endpoint.body, endpoint.bodyLimit ?? BODY_LIMIT));
    }
  });
  // Within the scope of the API, so that requests to unknown paths are authenticated first, like all others.
  api.setNotFoundHandler((request) => {
    throw unknownPath(request);
  });
}

/** What the audit log says of a request whose body was not read. */
function auditedRequestOf(request: FastifyRequest): AuditedRequest {
  const { caller, id: requestId } = request;
  const given = Object.entries(request.params as Record<string, string>);
  const params = Object.fromEntries(given.filter(([, id]) => isUuid(id)));
  return { params, body: undefined, caller, client: clientOf(request), requestId };
}

function unknownPath({ url }: FastifyRequest): ApiError {
  const isOfApi = url.startsWith(`${API_PREFIX}/`);
  return new ApiError("NOT_FOUND", isOfApi ? "This path does not exist: see /docs for all paths" : undefined);
}

function urlOf(endpoint: Endpoint): string {
  return endpoint.path.replaceAll(/\{(\w+)\}/g, ":$1");
}

/**
 * Answers a path that cannot be decoded with 404: in the API after a missing key, as everywhere, elsewhere as a page.
 */
function refuseUnreadablePath(request: FastifyRequest, reply: FastifyReply, faults: RepeatedFaults): void {
  const { url, headers } = request;
  if (announcesBody(request)) reply.header("Connection", "close");
  if (url.startsWith(`${API_PREFIX}/`)) {
    sendFailure(
      reply,
      new ApiError(headers["x-api-key"] === undefined ? "UNAUTHORIZED" : "NOT_FOUND"),
      faults,
    );
  } else sendPage(reply, 404, "Page not found", html`<p>The address may be incomplete.</p>`);
}

/** A key for equal errors: the code, or the message without numbers and quoted names. */
function kindOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return typeof thrown;
  const { code = "" } = thrown as NodeJS.ErrnoException;
  if (code !== "" && !(thrown instanceof ApiError)) return `${thrown.name} ${code}`;
  return `${thrown.name} ${thrown.message.slice(0, 100).replaceAll(/\d+|"[^"]*"|'[^']*'/g, "…")}`;
}

/**
 * The path for the log: without the query, which may contain email addresses; outside the API as a pattern, because
 * paths contain tokens.
 */
function loggedPath({ url, routeOptions }: FastifyRequest): string | undefined {
  return url.startsWith(`${API_PREFIX}/`) ? url.split("?", 1)[0] : routeOptions.url;
}

function sendFailure(reply: FastifyReply, thrown: unknown, faults: RepeatedFaults): void {
  const { status, error, isOurFault } = asFailure(thrown);
  if (isOurFault || status >= 500) {
    const { id: request_id, method, routeOptions } = reply.request;
    const operation = routeOptions.config.operation ?? "other";
    // An outage is one fault for all operations; any other fault is counted by operation.
    const isOutage = status === 503;
    const what = isOutage && !(thrown instanceof ApiError) ? "the database is unreachable" : kindOf(thrown);
    faults.note(
      {
        kind: isOutage ? what : `${what} (${operation})`,
        level: isOurFault ? "error" : "warn",
        message: "request failed",
        fields: { err: thrown, request_id, method, path: loggedPath(reply.request), status },
      },
      operation,
    );
  }
  reply
    .headers({ "X-Request-Id": reply.request.id, ...error.headers })
    .code(status)
    .type("application/json; charset=utf-8")
    .send(JSON.stringify(failure(error)));
}

/** The caller's request id, if it is short and plain enough for logs and headers. */
function saneRequestId(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" && /^[\w.:-]{1,100}$/.test(header) ? header : undefined;
}
