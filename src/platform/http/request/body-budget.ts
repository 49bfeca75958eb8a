/**
 * Limits the memory and disk space of request bodies that are arriving (limits.ts), and ends stalled ones.
 *
 * A budget is charged for bytes that have arrived, never for a Content-Length, and is released with the response. A stalled
 * body is answered with 408; if a budget is used up, already after a second without data. Time is counted in ticks of a timer
 * ("sweeps"), so that a busy event loop, which reads nothing, does not count against the client.
 */

import type { FastifyInstance, FastifyRequest } from "fastify";
import { ApiError } from "#platform/errors.ts";
import { type Caller, workspaceCaller } from "#platform/http/auth/caller.ts";
import { networkOf } from "#platform/http/auth/source-network.ts";
import type { HttpLimits } from "#platform/limits/http-limits.ts";
import { type Held, HeldShares, type Share } from "#platform/limits/in-process-shares.ts";
import type { Limit } from "#platform/limits/limit.ts";
import { bytesText, shareRefusal } from "#platform/limits/limit-errors.ts";

declare module "fastify" {
  interface FastifyInstance {
    arrivingBodies: ArrivingBodies;
  }
  interface FastifyRequest {
    /** The reason why the rest of the body is not read. */
    refusal: ApiError | null;
    /** Whether the whole body was read. */
    isBodyRead: boolean;
  }
}

/** Sweeps without enough data after which a body counts as stalled. */
const SWEEPS = 10;
/** Sweeps without a byte after which a body is ended if its budget is needed by others. */
const SHORT_SWEEPS = 2;
/** A body that arrives more slowly than this counts as stalled. */
const LEAST_BYTES_PER_S = 1024;
/** The holder that limits of the whole installation are counted for. */
const ALL = "";

/**
 * Whether the whole body has arrived, as with most requests in the same packet as the headers. Node.js sets `complete` only
 * after the request handler was called, so the buffered length is compared, too.
 */
export function hasCome({ raw, isBodyRead }: FastifyRequest): boolean {
  if (raw.complete || isBodyRead) return true;
  return raw.readableLength === Number(raw.headers["content-length"] ?? NaN);
}

/** A body that is arriving. Its reader reports each chunk. */
export interface Arrival {
  /** Charges the budgets for the bytes; if one is used up, the request is refused. */
  note(bytes: number): void;
  /** Releases all budgets at once, for a reader that has dropped the data. */
  giveUp(): void;
}

class ArrivingBody implements Arrival {
  readonly request: FastifyRequest;
  readonly shares: readonly Share[];
  readonly #place: Held;
  readonly #room: Held;
  readonly #bodies: ArrivingBodies;
  /** The sweep of the last byte, the sweep at which the current window began, and the bytes in the window. */
  lastSweep: number;
  windowSweep: number;
  windowBytes = 0;

  constructor(
    bodies: ArrivingBodies,
    request: FastifyRequest,
    held: { shares: readonly Share[]; place: Held; room: Held },
    sweep: number,
  ) {
    this.#bodies = bodies;
    this.request = request;
    this.shares = held.shares;
    this.#place = held.place;
    this.#room = held.room;
    this.lastSweep = sweep;
    this.windowSweep = sweep;
  }

  note(bytes: number): void {
    this.#bodies.progress(this, bytes);
    if (this.request.refusal !== null) return;
    let full = this.#room.takeMore(bytes);
    while (full !== undefined && this.#bodies.letGoStalled(this.#shareOf(full))) {
      full = this.#room.takeMore(bytes);
    }
    if (full !== undefined) refuse(this.request, shareRefusal(full));
  }

  /** Call when the body is complete or aborted. */
  end(): void {
    this.#place.release();
  }

  giveUp(): void {
    this.#bodies.forget(this);
    this.#place.release();
    this.#room.release();
  }

  #shareOf(limit: Limit): Share {
    return this.shares.find((share) => share.limit === limit) ?? { limit, holder: ALL };
  }
}

export class ArrivingBodies {
  readonly #limits: HttpLimits;
  readonly #held = new HeldShares();
  /** Ordered by the time of their last byte, the oldest first. */
  readonly #arriving = new Set<ArrivingBody>();
  readonly #leastBytes: number;
  readonly #timer: NodeJS.Timeout;
  #sweep = 0;
  #isStopping = false;

  /** @param stallMs time without enough data after which a body counts as stalled */
  constructor(limits: HttpLimits, stallMs: number) {
    this.#limits = limits;
    this.#leastBytes = (LEAST_BYTES_PER_S * stallMs) / 1000;
    this.#timer = setInterval(() => this.#endStalled(), stallMs / SWEEPS).unref();
  }

  /**
   * Call before reading a body that has not arrived completely.
   * @param place where the reader stores the body
   * @throws ApiError if the caller has too many arriving bodies, or the service is stopping
   */
  begin(request: FastifyRequest, place: "memory" | "disk"): Arrival {
    if (this.#isStopping) throw stopping();
    const caller = workspaceCaller(request.caller);
    const network = networkOf(request.ip);
    const taken = this.#takePlace([
      { limit: this.#limits.unfinishedOfNetwork, holder: network },
      ...(caller ? [{ limit: this.#limits.unfinishedOfKey, holder: caller.actor.id }] : []),
    ]);
    const shares = this.#roomShares(place, caller, network);
    const room = this.#held.take(shares, 0);
    if ("reached" in room) throw shareRefusal(room.reached);
    const held = { shares: [...taken.shares, ...shares], place: taken.held, room: room.held };
    const body = new ArrivingBody(this, request, held, this.#sweep);
    this.#arriving.add(body);
    const { raw, rawReply } = request;
    const end = () => {
      this.forget(body);
      body.end();
    };
    raw.once("end", end).once("close", end);
    rawReply.once("close", () => body.giveUp());
    // Clients with Expect: 100-continue send the body only after this (RFC 9110 section 10.1.1).
    if (raw.headers.expect !== undefined && raw.httpVersion !== "1.0") rawReply.writeContinue();
    return body;
  }

  progress(body: ArrivingBody, bytes: number): void {
    body.lastSweep = this.#sweep;
    body.windowBytes += bytes;
    if (this.#arriving.delete(body)) this.#arriving.add(body);
  }

  forget(body: ArrivingBody): void {
    this.#arriving.delete(body);
  }

  /** Ends one body that is charged to this share and had no data for a second. @returns whether there was one */
  letGoStalled(share: Share): boolean {
    for (const body of this.#arriving) {
      if (this.#sweep - body.lastSweep < SHORT_SWEEPS) return false;
      if (body.shares.some(({ limit, holder }) => limit === share.limit && holder === share.holder)) {
        this.#end(body, stalled("The body stopped arriving while the service was busy: send it again"));
        return true;
      }
    }
    return false;
  }

  /** Refuses all incomplete and all further bodies with 503. */
  stop(): void {
    this.#isStopping = true;
    clearInterval(this.#timer);
    for (const { request } of this.#arriving) {
      if (!request.raw.complete) refuse(request, stopping());
    }
  }

  #takePlace(shares: readonly Share[]): { shares: readonly Share[]; held: Held } {
    for (;;) {
      const place = this.#held.take(shares);
      if ("held" in place) return { shares, held: place.held };
      const share = shares.find(({ limit }) => limit === place.reached);
      if (share === undefined || !this.letGoStalled(share)) throw shareRefusal(place.reached);
    }
  }

  #roomShares(place: "memory" | "disk", caller: Caller | undefined, network: string): Share[] {
    const { uploads, uploadsOfWorkspace, bodies, bodiesOfWorkspace, bodiesOfNetwork } = this.#limits;
    const [ofAll, ofWorkspace] =
      place === "disk" ? [uploads, uploadsOfWorkspace] : [bodies, bodiesOfWorkspace];
    const own = caller
      ? { limit: ofWorkspace, holder: caller.workspaceId }
      : { limit: bodiesOfNetwork, holder: network };
    return [own, { limit: ofAll, holder: ALL }];
  }

  #endStalled(): void {
    this.#sweep += 1;
    for (const body of this.#arriving) {
      const { raw } = body.request;
      // If data waits for our reader, the delay is not the client's.
      if (raw.isPaused() || raw.readableLength > 0) {
        body.lastSweep = this.#sweep;
        body.windowSweep = this.#sweep;
        body.windowBytes = 0;
      } else if (this.#hasStalled(body)) {
        const least = `${bytesText(LEAST_BYTES_PER_S)} a second`;
        this.#end(body, stalled(`The body arrives too slowly: send at least ${least}, without pauses`));
      }
    }
  }

  #hasStalled(body: ArrivingBody): boolean {
    if (this.#sweep - body.lastSweep >= SWEEPS) return true;
    if (this.#sweep - body.windowSweep < SWEEPS) return false;
    const isSlow = body.windowBytes < this.#leastBytes;
    body.windowSweep = this.#sweep;
    body.windowBytes = 0;
    return isSlow;
  }

  #end(body: ArrivingBody, why: ApiError): void {
    body.giveUp();
    refuse(body.request, why);
  }
}

/** Ends the reading of a body. Its reader gets an "error" event as for a broken connection, but the request is answered. */
function refuse(request: FastifyRequest, why: ApiError): void {
  if (request.refusal !== null) return;
  request.refusal = why;
  if (request.raw.listenerCount("error") > 0) request.raw.emit("error", why);
}

function stalled(message: string): ApiError {
  return new ApiError("VALIDATION_ERROR", message, { status: 408, headers: { Connection: "close" } });
}

function stopping(): ApiError {
  return new ApiError(
    "INTERNAL_ERROR",
    "The service is stopping and has not read the request: send it again",
    { status: 503, headers: { "Retry-After": "1", Connection: "close" } },
  );
}

/** Adds `server.arrivingBodies`, which stops with the server. */
export function watchArrivingBodies(server: FastifyInstance, limits: HttpLimits, stallMs: number): void {
  const bodies = new ArrivingBodies(limits, stallMs);
  server.decorate("arrivingBodies", bodies);
  server.decorateRequest("refusal", null).decorateRequest("isBodyRead", false);
  server.addHook("preClose", async () => bodies.stop());
}
