/** The route handler of one endpoint: read the request, reserve its key, let the endpoint handle it, wrap the answer. */
import type { FastifyReply, FastifyRequest } from "fastify";
import sql from "sql-template-tag";
import type { TSchema } from "typebox";

import type { Database } from "#platform/database/pool.ts";
import { patiently } from "#platform/database/request-database.ts";
import { ApiError, type FieldFault } from "#platform/errors.ts";
import { isUuid, newId } from "#platform/ids.ts";
import { inTime } from "#platform/in-time.ts";
import { BODY_LIMIT, type Endpoint } from "./endpoint.ts";
import {
  Answered,
  idempotencyKey,
  type Reservation,
  release,
  reserve,
  type StoredAnswer,
  updateAnswers,
} from "./idempotency/idempotency.ts";
import type { ProcessMark } from "./idempotency/process-mark.ts";
import type { UnsettledKeys } from "./idempotency/unsettled-keys.ts";
import { readQuery } from "./request/query.ts";
import { MOST_IGNORED } from "./request/unknown-names.ts";
import { fileFieldOf, formReader } from "./request/uploads.ts";
import { bodyReader } from "./request/validate.ts";
import { asFailure, failure, type Success } from "./response/envelope.ts";
import { dispositionOf, type FileAnswer, mediaTypeOf } from "./response/file-answer.ts";

/** What a handler returns that only looked whether it could do what was asked: answered 200, with its own sentence. */
export class Rehearsed {
  readonly data: unknown;
  readonly message: string;
  constructor(data: unknown, message: string) {
    this.data = data;
    this.message = message;
  }
}

/** Rows of a list whose answer has no `pagination`: where the next ones begin stands beside `data`. */
export class Continued {
  readonly data: unknown;
  readonly nextCursor: string | null;
  constructor(data: unknown, nextCursor: string | null) {
    this.data = data;
    this.nextCursor = nextCursor;
  }
}

/** What the endpoints of a server share. */
export interface AnswerDeps {
  readonly database: Database;
  readonly dataDir: string;
  /** How long a request waits for the database altogether. */
  readonly databaseMs: number;
  readonly unsettled: UnsettledKeys;
  readonly processMark: ProcessMark;
}

export function answerer(endpoint: Endpoint, deps: AnswerDeps) {
  const { database, dataDir, unsettled, processMark } = deps;
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

  const wrap = (given: unknown, ignored: readonly FieldFault[], message = endpoint.message ?? "") => {
    const isContinued = given instanceof Continued;
    const data = isContinued ? given.data : given;
    const envelope: Success = {
      success: true,
      data,
      ...(isContinued && { next_cursor: given.nextCursor }),
      message: typeof message === "string" ? message : message(data as never),
      ...(ignored.length > 0 && { warnings: ignored.slice(0, MOST_IGNORED) }),
    };
    return { status: endpoint.status ?? 200, body: JSON.stringify(envelope) };
  };

  const handle = async (request: FastifyRequest): Promise<Done> => {
    const { caller } = request;
    const params = readIds(request.params as Record<string, string>);
    const ignored: FieldFault[] = [];
    const onIgnored = (one: FieldFault) => void ignored.push(one);
    const success = (data: unknown, message?: string): StoredAnswer => wrap(data, ignored, message);
    const query = readQuery(endpoint.query ?? {}, request.query as Record<string, unknown>, {
      bodyFields,
      isClosed,
      onIgnored,
    });
    await using form = await readForm?.(request, { onIgnored });
    let bodyDigest = request.bodyDigest ?? undefined;
    const given = request.body === undefined ? absentBody : request.body;
    // It is of the body as it came, with its ids in another spelling.
    const onRespelled = () => {
      bodyDigest = undefined;
    };
    const body = form ? form.body : readBody?.(given, { onRespelled, onIgnored });
    const key = endpoint.idempotent && idempotencyKey(request.headers["idempotency-key"]);
    const reservation: Reservation | undefined = key
      ? {
          workspaceId: caller.workspaceId,
          path: pathOf(request),
          key,
          token: newId(),
          holder: processMark.holder,
          answerFor: success,
        }
      : undefined;
    if (reservation) {
      const replayed = await reserve(database, reservation, body, bodyDigest).catch((fault: unknown) => {
        // Without an answer it may be reserved after all.
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
      requestId: request.id,
      idempotency: reservation,
    };
    if (mediaType !== undefined) {
      return { file: (await endpoint.handle(input as never)) as FileAnswer };
    }
    const run = async (): Promise<StoredAnswer> => {
      const result = await endpoint.handle(input as never);
      if (result instanceof Answered) return success(result.data);
      if (result instanceof Rehearsed) {
        // Nothing was done, so there is nothing to replay.
        if (reservation) await release(database, reservation);
        return { ...success(result.data, result.message), status: 200 };
      }
      const answer = success(result);
      if (reservation) {
        // It was done, and is said to be: a failure here would have the caller do it again.
        await updateAnswers(database, [{ held: reservation, answer }]).catch((err: unknown) => {
          unsettled.add(reservation, answer);
          request.log.error({ err }, "what an Idempotency-Key is to answer could not be kept yet");
        });
      }
      return answer;
    };
    return { answer: reservation ? await keepingFailures(run, reservation, deps) : await run() };
  };
  const handleInTime = async (request: FastifyRequest): Promise<Done> => {
    const leftMs = deps.databaseMs - request.waitedMs;
    if (endpoint.mayTakeLong === "asking others") return handle(request);
    if (endpoint.mayTakeLong === undefined && !isForm) return inTime(leftMs, handle(request));
    // A database that answers nothing is found out before it is given much time.
    await inTime(leftMs, database.run(sql`select`));
    return patiently(() => handle(request));
  };

  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const done = await handleInTime(request);
    if ("file" in done) return sendFile(reply, mediaType ?? "", done.file);
    if (done.isReplayed) reply.header("Idempotent-Replayed", "true");
    return send(reply, done.answer);
  };
}

/** What the caller gets, when it is there in time. */
type Done = { readonly answer: StoredAnswer; readonly isReplayed?: boolean } | { readonly file: FileAnswer };

/**
 * A refusal is part of what a key replays. What may be otherwise in a moment gives the key back: a failure of ours, 429,
 * and 402, which a top-up ends.
 */
async function keepingFailures(
  run: () => Promise<StoredAnswer>,
  reservation: Reservation,
  { database, unsettled }: AnswerDeps,
): Promise<StoredAnswer> {
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

function send(reply: FastifyReply, answer: StoredAnswer): FastifyReply {
  return reply.code(answer.status).type("application/json; charset=utf-8").send(answer.body);
}

/** A download, never a page: whatever is in it, a browser only saves it. */
function sendFile(reply: FastifyReply, mediaType: string, file: FileAnswer): FastifyReply {
  return reply
    .headers({
      "Content-Type": `${mediaType}; charset=utf-8`,
      "Content-Disposition": dispositionOf(file.name),
      "X-Content-Type-Options": "nosniff",
      "Cache-Control": "private, no-store",
    })
    .send(file.content);
}

/** A trailing slash is tolerated, and must not make another path of it. */
function pathOf({ url }: FastifyRequest): string {
  return (url.split("?", 1)[0] ?? "").replace(/\/+$/, "");
}

/** Path ids in the one spelling that rows have. @throws ApiError NOT_FOUND for what cannot be an id */
function readIds(given: Record<string, string>): Record<string, string> {
  const ids = Object.entries(given).map(([name, id]) => [name, id.toLowerCase()] as const);
  if (!ids.every(([, id]) => isUuid(id))) throw new ApiError("NOT_FOUND");
  return Object.fromEntries(ids);
}
