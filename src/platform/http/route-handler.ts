/**
 * The route handler of an endpoint: reads the request, reserves its Idempotency-Key, calls the endpoint, wraps the
 * result.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import sql from "sql-template-tag";
import type { TSchema } from "typebox";

import type { Database } from "#platform/database/pool.ts";
import { patiently } from "#platform/database/request-database.ts";
import { ApiError, type FieldFault, invalid } from "#platform/errors.ts";
import { isUuid, newId } from "#platform/ids.ts";
import { inTime } from "#platform/in-time.ts";
import { AuditHook } from "./audit-operation.ts";
import { workspaceCaller } from "./auth/caller.ts";
import { BODY_LIMIT, type Client, type Endpoint } from "./endpoint.ts";
import {
  idempotencyKey,
  type Reservation,
  ResponseStored,
  release,
  reserve,
  type StoredAnswer,
  updateAnswers,
} from "./idempotency/idempotency.ts";
import type { ProcessLiveness } from "./idempotency/process-liveness.ts";
import type { UnsettledKeys } from "./idempotency/retry-unsettled-keys.ts";
import { readQuery } from "./request/query.ts";
import { MOST_IGNORED } from "./request/unknown-fields.ts";
import { announcesFields } from "./request/unread-body.ts";
import { fileFieldOf, formReader } from "./request/uploads.ts";
import { bodyReader } from "./request/validate.ts";
import { asFailure, failure, type Success } from "./response/envelope.ts";
import { EVENT_STREAM, EventStream, type EventStreams } from "./response/event-stream.ts";
import { dispositionOf, type FileAnswer, mediaTypeOf } from "./response/file-answer.ts";

/** Returned by a handler for a dry run (`?dry_run`): answered with 200 and its own message. */
export class DryRun {
  readonly data: unknown;
  readonly message: string;
  constructor(data: unknown, message: string) {
    this.data = data;
    this.message = message;
  }
}

/**
 * Returned by a handler of a list without `pagination`: the envelope has `next_cursor` next to `data`, and
 * `total` when it is counted.
 */
export class Continued {
  readonly data: unknown;
  readonly nextCursor: string | null;
  /** Rows of all pages. */
  readonly total: number | undefined;
  constructor(data: unknown, nextCursor: string | null, total?: number) {
    this.data = data;
    this.nextCursor = nextCursor;
    this.total = total;
  }
}

/** Shared by all endpoints of a server. */
export interface AnswerDeps {
  readonly database: Database;
  readonly dataDir: string;
  /** Milliseconds that a request waits for the database in total. */
  readonly databaseMs: number;
  readonly unsettled: UnsettledKeys;
  readonly liveness: ProcessLiveness;
  /** Writes the audit log; absent in servers without one. */
  readonly audit?: AuditHook | undefined;
  readonly streams: EventStreams;
}

export function routeHandler(endpoint: Endpoint, deps: AnswerDeps) {
  const { database, dataDir, unsettled, liveness } = deps;
  const audit = AuditHook.audits(endpoint) ? deps.audit : undefined;
  const { body: shape, bodyLimit = BODY_LIMIT } = endpoint;
  const isForm = fileFieldOf(shape) !== undefined;
  const surroundings = {
    answer: endpoint.answer,
    query: Object.keys(endpoint.query ?? {}),
    advise: endpoint.advise,
  };
  const readForm = shape && isForm ? formReader(shape, bodyLimit, dataDir) : undefined;
  const readBody = shape && !isForm ? bodyReader(shape, surroundings) : undefined;
  const { properties = {}, additionalProperties } = (shape ?? {}) as TSchema & {
    properties?: object;
    additionalProperties?: unknown;
  };
  const bodyFields = Object.keys(properties);
  const isClosed = additionalProperties === false;
  const absentBody = endpoint.bodyMayBeAbsent ? {} : undefined;
  const mediaType = mediaTypeOf(endpoint.answer);
  const isStream = mediaType === EVENT_STREAM;

  const wrap = (
    given: unknown,
    ignored: readonly FieldFault[],
    message = endpoint.message ?? "",
  ): Versioned => {
    const isContinued = given instanceof Continued;
    const data = isContinued ? given.data : given;
    const envelope: Success = {
      success: true,
      data,
      ...(isContinued && { next_cursor: given.nextCursor }),
      ...(isContinued && given.total !== undefined && { total: given.total }),
      message: typeof message === "string" ? message : message(data as never),
      ...(ignored.length > 0 && { warnings: ignored.slice(0, MOST_IGNORED) }),
    };
    return {
      status: endpoint.status ?? 200,
      body: JSON.stringify(envelope),
      ...(endpoint.etag && { etag: endpoint.etag(data as never) }),
    };
  };

  const handle = async (request: FastifyRequest): Promise<Done> => {
    const { caller, cookies } = request;
    const workspaceId = workspaceCaller(caller)?.workspaceId;
    const params = readIds(request.params as Record<string, string>);
    const ignored: FieldFault[] = [];
    const onIgnored = (one: FieldFault) => void ignored.push(one);
    const success = (data: unknown, message?: string): Versioned => wrap(data, ignored, message);
    const query = readQuery(endpoint.query ?? {}, queryOf(request), {
      bodyFields,
      isClosed,
      onIgnored,
    });
    if (shape === undefined && announcesFields(request)) {
      onIgnored({ field: "body", message: "body was ignored: this call takes none" });
    }
    await using form = await readForm?.(request, { onIgnored });
    let bodyDigest = request.bodyDigest ?? undefined;
    const given = request.body === undefined ? absentBody : request.body;
    // The digest was taken before ids were normalised, so it no longer matches the body.
    const onRespelled = () => {
      bodyDigest = undefined;
    };
    const body = form ? form.body : readBody?.(given, { onRespelled, onIgnored });
    const key = endpoint.idempotent && workspaceId && idempotencyKey(request.headers["idempotency-key"]);
    const reservation: Reservation | undefined =
      workspaceId && key
        ? {
            workspaceId,
            path: pathOf(request),
            key,
            token: newId(),
            holder: liveness.holder,
            answerFor: success,
          }
        : undefined;
    if (reservation) {
      const replayed = await reserve(database, reservation, body, bodyDigest).catch((fault: unknown) => {
        // Without an answer from the database, the key may be reserved nevertheless.
        if (!(fault instanceof ApiError)) unsettled.add(reservation);
        throw fault;
      });
      if (replayed) return { answer: replayed, isReplayed: true };
    }
    const input = {
      params,
      query,
      body,
      caller,
      client: clientOf(request),
      cookies,
      requestId: request.id,
      idempotency: reservation,
      mayBe: endpoint.conditional ? versionCheck(request.headers["if-match"]) : () => true,
    };
    if (mediaType !== undefined) {
      const answer = (await endpoint.handle(input as never)) as FileAnswer | EventStream;
      return answer instanceof EventStream ? { stream: answer } : { file: answer };
    }
    const run = async (): Promise<Versioned> => {
      const result = await (audit
        ? audit.run(endpoint, input, () => endpoint.handle(input as never), isChange)
        : endpoint.handle(input as never));
      if (result instanceof ResponseStored) return success(result.data);
      if (result instanceof DryRun) {
        // A dry run has no effect, so its response is not replayed.
        if (reservation) await release(database, reservation);
        return { ...success(result.data, result.message), status: 200 };
      }
      const answer = success(result);
      if (reservation) {
        // The work is done, so the caller gets success: after an error it would repeat the work.
        await updateAnswers(database, [{ held: reservation, answer }]).catch((err: unknown) => {
          unsettled.add(reservation, answer);
          request.log.error({ err }, "idempotent response could not be saved, retrying");
        });
      }
      return answer;
    };
    return { answer: reservation ? await keepingFailures(run, reservation, deps) : await run() };
  };
  const handleInTime = async (request: FastifyRequest): Promise<Done> => {
    const leftMs = deps.databaseMs - request.waitedMs;
    const { mayTakeLong } = endpoint;
    if (mayTakeLong === "asking others" || mayTakeLong === "working aside") return handle(request);
    if (mayTakeLong === undefined && !isForm) {
      const handled = handle(request);
      return isStream ? streamInTime(leftMs, handled) : inTime(leftMs, handled);
    }
    // Checks that the database answers, before the request may wait for it longer.
    await inTime(leftMs, database.run(sql`select`));
    return patiently(() => handle(request));
  };

  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const done = await handleInTime(request);
    if (request.cookies.changes.length > 0) reply.header("Set-Cookie", [...request.cookies.changes]);
    if ("file" in done) return sendFile(reply, mediaType ?? "", done.file);
    if ("stream" in done) return deps.streams.answer(request, reply, done.stream);
    if (done.isReplayed) reply.header("Idempotent-Replayed", "true");
    return send(reply, done.answer);
  };
}

export function clientOf({ ip, headers }: FastifyRequest): Client {
  return { ip, agent: headers["user-agent"] ?? "" };
}

/** A response with the version of its resource, if it has one. */
type Versioned = StoredAnswer & { readonly etag?: string };

const isChange = (result: unknown) => !(result instanceof DryRun);

/** The result of a handler. */
type Done =
  | { readonly answer: Versioned; readonly isReplayed?: boolean }
  | { readonly file: FileAnswer }
  | { readonly stream: EventStream };

/** A stream that comes after the deadline gives back what it holds: its caller has got an error. */
async function streamInTime(ms: number, handled: Promise<Done>): Promise<Done> {
  try {
    return await inTime(ms, handled);
  } catch (fault) {
    handled.then(
      (done) => void ("stream" in done && done.stream.discard()),
      () => {},
    );
    throw fault;
  }
}

/**
 * Stores error responses under the Idempotency-Key, so that they are replayed. After errors that may go away, the key is
 * released: 5xx, 429, and 402, which a top-up ends.
 */
async function keepingFailures(
  run: () => Promise<Versioned>,
  reservation: Reservation,
  { database, unsettled }: AnswerDeps,
): Promise<Versioned> {
  try {
    return await run();
  } catch (thrown) {
    const { status, error } = asFailure(thrown);
    if (status === 503 && !(thrown instanceof ApiError)) unsettled.add(reservation);
    else if (status >= 500 || status === 429 || status === 402) {
      await release(database, reservation).catch(() => unsettled.add(reservation));
    } else {
      const answer = { status, body: JSON.stringify(failure(error)) };
      await updateAnswers(database, [{ held: reservation, answer }]).catch(() =>
        unsettled.add(reservation, answer),
      );
    }
    throw thrown;
  }
}

function send(reply: FastifyReply, answer: Versioned): FastifyReply {
  if (answer.etag !== undefined) reply.header("ETag", answer.etag);
  return reply.code(answer.status).type("application/json; charset=utf-8").send(answer.body);
}

/** Sends a file as a download, so that a browser does not display its content as a page. */
function sendFile(reply: FastifyReply, mediaType: string, file: FileAnswer): FastifyReply {
  return reply
    .headers({
      "Content-Type": /^text\/|\bjson$/.test(mediaType) ? `${mediaType}; charset=utf-8` : mediaType,
      "Content-Disposition": dispositionOf(file.name),
      "X-Content-Type-Options": "nosniff",
      "Cache-Control": "private, no-store",
    })
    .send(file.content);
}

/* The header If-Match (RFC 9110 section 13.1.1): the version of a resource that the caller wants to change. */
const entityTag = String.raw`(?:W/)?"[\x21\x23-\x7e]*"`;
const entityTags = new RegExp(String.raw`^\s*${entityTag}(?:\s*,\s*${entityTag})*\s*$`);
const LONGEST_IF_MATCH = 1_000;

/**
 * Whether the resource may have this version, as a function: always without the header and for `*`. A weak tag is treated
 * like a strong one, because proxies that compress weaken the tags of responses.
 * @throws ApiError VALIDATION_ERROR if the header is no list of entity tags
 */
function versionCheck(header: string | undefined): (etag: string) => boolean {
  if (header === undefined || header.trim() === "*") return () => true;
  if (header.length > LONGEST_IF_MATCH || !entityTags.test(header)) {
    throw invalid({
      field: "If-Match",
      message: 'If-Match must be the ETag of a response, in quotation marks, such as "7"',
    });
  }
  const tags = new Set(header.match(/"[^"]*"/g));
  return (etag) => tags.has(etag);
}

/** The query without the workspace that a person may name in it (server.ts). */
function queryOf({ caller, query }: FastifyRequest): Record<string, unknown> {
  const given = query as Record<string, unknown>;
  if (caller.actor?.kind !== "person") return given;
  const { workspace: _, ...others } = given;
  return others;
}

/** The path without a trailing slash, which is tolerated and must not make a different path. */
function pathOf({ url }: FastifyRequest): string {
  return (url.split("?", 1)[0] ?? "").replace(/\/+$/, "");
}

/** Path ids in lower case, as in the database. @throws ApiError NOT_FOUND for anything that is not a UUID */
function readIds(given: Record<string, string>): Record<string, string> {
  const ids = Object.entries(given).map(([name, id]) => [name, id.toLowerCase()] as const);
  if (!ids.every(([, id]) => isUuid(id))) throw new ApiError("NOT_FOUND");
  return Object.fromEntries(ids);
}
