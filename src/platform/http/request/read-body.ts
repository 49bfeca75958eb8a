/**
 * Reads whole bodies into memory, within their size limit and the budget of the caller (body-budget.ts). All body parsers are
 * added here, so that no body is read without these limits.
 */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { ApiError } from "#platform/errors.ts";
import { bytesText } from "#platform/limits/limit-errors.ts";
import { hasCome } from "./body-budget.ts";

const NOTHING = Buffer.alloc(0);

/**
 * Adds a parser for bodies of a content type ("*" for all types without a parser).
 * @param most bytes; default: the limit of the route
 */
export function takeBodies(
  scope: FastifyInstance,
  contentType: string,
  parse: (body: Buffer, request: FastifyRequest) => unknown,
  most?: number,
): void {
  scope.addContentTypeParser(contentType, async (request: FastifyRequest) =>
    parse(await readBody(request, most ?? request.routeOptions.bodyLimit), request),
  );
}

/** Leaves bodies of all content types unread. */
export function ignoreBodies(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", async () => undefined);
}

/** @throws ApiError PAYLOAD_TOO_LARGE, or those of ArrivingBodies */
async function readBody(request: FastifyRequest, most: number): Promise<Buffer> {
  const { raw, headers, server } = request;
  if (Number(headers["content-length"] ?? 0) > most) throw tooLarge(most);
  if (raw.destroyed) throw brokeOff();
  if (hasCome(request) && raw.readableFlowing === null) {
    const body: Buffer = raw.read() ?? NOTHING;
    if (body.length > most) throw tooLarge(most);
    request.isBodyRead = true;
    return body;
  }
  const arrival = server.arrivingBodies.begin(request, "memory");
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  const stop = () => raw.off("data", onData).off("end", onEnd).off("error", onError).off("close", onError);
  const fail = (fault: ApiError) => {
    stop();
    chunks.length = 0;
    arrival.giveUp();
    reject(fault);
  };
  const onData = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > most) return fail(tooLarge(most));
    chunks.push(chunk);
    arrival.note(chunk.length);
  };
  const onEnd = () => {
    stop();
    request.isBodyRead = true;
    resolve(Buffer.concat(chunks, bytes));
  };
  const onError = (fault?: Error) => fail(fault instanceof ApiError ? fault : brokeOff(fault));
  raw.on("data", onData).on("end", onEnd).on("error", onError).on("close", onError);
  return promise;
}

function tooLarge(most: number): ApiError {
  return new ApiError("PAYLOAD_TOO_LARGE", `The request body may have at most ${bytesText(most)}`);
}

/** The client has nearly always gone, and does not see this error. */
function brokeOff(cause?: Error): ApiError {
  return new ApiError("VALIDATION_ERROR", "The connection broke before the whole body had arrived", {
    cause,
  });
}
