/**
 * Limits the memory of responses that clients do not read. Data that the kernel does not accept stays in this process, so
 * large responses are limited for each network and in total (limits.ts). If a limit is reached, a connection that has read
 * nothing for five seconds is closed; a connection that has read nothing for a minute is closed in any case.
 *
 * Large responses are written in chunks, so that slow reading is noticed. Time is counted in ticks of a timer ("sweeps"), so
 * that a busy event loop, which writes nothing, does not count against the client.
 */
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { networkOf } from "#platform/http/auth/source-network.ts";
import type { HttpLimits } from "#platform/limits/http-limits.ts";
import { type Held, HeldShares, type Share } from "#platform/limits/in-process-shares.ts";
import type { Limit } from "#platform/limits/limit.ts";
import { shareRefusal } from "#platform/limits/limit-errors.ts";

/** Responses up to this size are not counted. */
const LARGE_BYTES = 16 * 1024;
const PIECE_BYTES = 64 * 1024;
/** Bytes counted for a response that is a stream: its buffers. */
const STREAM_BYTES = 2 * PIECE_BYTES;
/** Sweeps without progress after which a connection is closed. */
const SWEEPS = 24;
/** Sweeps without progress after which a connection is closed if a limit is reached. */
const SHORT_SWEEPS = 2;
/** The holder that limits of the whole installation are counted for. */
const ALL = "";
/** Headers to be removed when a response is replaced by an error. */
const ofContent = /^(?:content-|etag$|cache-control$|last-modified$|vary$)/;

/** A stream of the octets that does not copy them. */
export function inPieces(octets: Buffer): Readable {
  return Readable.from(piecesOf(octets), { objectMode: false, highWaterMark: PIECE_BYTES });
}

/** Lets the event loop run between two chunks, because the kernel may accept megabytes at once. */
async function* piecesOf(octets: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < octets.length; at += PIECE_BYTES) {
    if (at > 0) await nextTurn();
    yield octets.subarray(at, at + PIECE_BYTES);
  }
}

/** How far a client has read. */
interface Progress {
  /** Octets that the kernel has accepted. */
  taken: number;
  /** The last sweep with progress, or with nothing to send. */
  sweep: number;
  /** The shares that the current response counts against, if it is large. */
  shares: readonly Share[];
  held: Held | undefined;
}

export class UnsentResponses {
  readonly #limits: HttpLimits;
  readonly #held = new HeldShares();
  readonly #open = new Map<Socket, Progress>();
  readonly #timer: NodeJS.Timeout;
  #sweep = 0;

  /** @param unreadMs time without progress after which a connection is closed */
  constructor(limits: HttpLimits, unreadMs: number) {
    this.#limits = limits;
    this.#timer = setInterval(() => this.#closeStalled(), unreadMs / SWEEPS).unref();
  }

  watch(server: FastifyInstance): void {
    server.server.on("connection", (socket: Socket) => {
      this.#open.set(socket, { taken: 0, sweep: this.#sweep, shares: [], held: undefined });
      socket.once("close", () => this.#forget(socket));
    });
    server.addHook("onSend", (request, reply, payload: unknown, done) => {
      const octets = octetsOf(payload);
      if (octets === undefined || request.method === "HEAD") return done(null, payload);
      const full = this.#take(request, reply, octets);
      // Only reads are refused: the response to a change is always sent, because the change is done.
      if (full !== undefined && (request.method === "GET" || request.method === "OPTIONS")) {
        if (payload instanceof Readable) payload.destroy();
        for (const name of Object.keys(reply.getHeaders()))
          if (ofContent.test(name)) reply.removeHeader(name);
        return done(shareRefusal(full));
      }
      if (payload instanceof Readable) return done(null, payload);
      const whole = Buffer.isBuffer(payload) ? payload : Buffer.from(String(payload));
      reply.header("Content-Length", whole.length);
      done(null, inPieces(whole));
    });
    server.addHook("onClose", async () => clearInterval(this.#timer));
  }

  /** @returns the limit that is reached, or undefined if the response was counted */
  #take({ ip, raw: { socket } }: FastifyRequest, reply: FastifyReply, octets: number): Limit | undefined {
    const progress = this.#open.get(socket);
    if (progress === undefined) return undefined;
    const shares = [
      { limit: this.#limits.unsentOfNetwork, holder: networkOf(ip) },
      { limit: this.#limits.unsent, holder: ALL },
    ];
    // A response larger than the limit of a network counts as all of it.
    const counted = Math.min(octets, this.#limits.unsentOfNetwork.most);
    let taken = this.#held.take(shares, counted);
    while ("reached" in taken) {
      const { reached } = taken;
      if (!this.#closeFor(shares.find(({ limit }) => limit === reached))) return reached;
      taken = this.#held.take(shares, counted);
    }
    const { held } = taken;
    progress.shares = shares;
    progress.held = held;
    reply.raw.once("close", () => {
      held.release();
      progress.shares = [];
    });
    return undefined;
  }

  /** Closes the connection with the longest time without progress among those counted for the share. */
  #closeFor(share: Share | undefined): boolean {
    let longest: Socket | undefined;
    let since = this.#sweep - SHORT_SWEEPS + 1;
    for (const [socket, progress] of this.#open) {
      if (progress.sweep >= since || !isHolding(progress, share)) continue;
      longest = socket;
      since = progress.sweep;
    }
    if (longest === undefined) return false;
    this.#close(longest);
    return true;
  }

  #closeStalled(): void {
    this.#sweep += 1;
    for (const [socket, progress] of this.#open) {
      const taken = socket.bytesWritten - socket.writableLength;
      if (taken !== progress.taken || socket.writableLength === 0) {
        progress.taken = taken;
        progress.sweep = this.#sweep;
      } else if (this.#sweep - progress.sweep >= SWEEPS) this.#close(socket);
    }
  }

  #close(socket: Socket): void {
    this.#forget(socket);
    socket.destroy();
  }

  #forget(socket: Socket): void {
    this.#open.get(socket)?.held?.release();
    this.#open.delete(socket);
  }
}

function isHolding({ shares }: Progress, share: Share | undefined): boolean {
  return shares.some(({ limit, holder }) => limit === share?.limit && holder === share.holder);
}

/** The octets that a response counts as; undefined if it is not counted. */
function octetsOf(payload: unknown): number | undefined {
  if (payload instanceof Readable) return STREAM_BYTES;
  if (typeof payload !== "string" && !Buffer.isBuffer(payload)) return undefined;
  // For a string this compares characters, which are at most as many as octets.
  if (payload.length <= LARGE_BYTES) return undefined;
  return Buffer.byteLength(payload);
}
