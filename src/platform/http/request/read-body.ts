/**
 * Reads a whole body into memory, within its limit and its holder's share of what arrives (body-budget.ts). Every
 * parser of a body is made here, so that none is read in another way.
 */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { ApiError } from "#platform/errors.ts";
import { bytesText } from "#platform/limits/refusal.ts";
import { hasCome } from "./body-budget.ts";

const NOTHING = Buffer.alloc(0);

/**
 * Bodies of this content type ("*" for all that have no parser) are read and parsed so.
 * @param most bytes; the route's own limit unless said
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

/** Bodies of every content type are left unread. */
export function ignoreBodies(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", async () => undefined);
}

/** @throws ApiError PAYLOAD_TOO_LARGE, or what the arriving bodies refuse */
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

/** Nearly always told to a client that has gone. */
function brokeOff(cause?: Error): ApiError {
  return new ApiError("VALIDATION_ERROR", "The connection broke before the whole body had come", { cause });
}
