/**
 * Answers that their clients do not read. What the kernel does not take stays in this process: of large answers each
 * network may have a share, and all together (limits.ts). Where room is short, a connection that has taken nothing for five
 * seconds is closed for the others; one that has taken nothing for a minute is closed in any case.
 *
 * Large answers are written in pieces, so that a client that reads slowly is seen to read. Time is counted in sweeps of a
 * timer, so that a busy event loop, which writes nothing, does not count against the client.
 */
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { networkOf } from "#platform/http/auth/source-network.ts";
import { type Held, HeldShares, type Share } from "#platform/limits/held-shares.ts";
import type { HttpLimits } from "#platform/limits/http-limits.ts";
import type { Limit } from "#platform/limits/limit.ts";
import { shareRefusal } from "#platform/limits/refusal.ts";

/** Smaller answers are not counted. */
const LARGE_BYTES = 16 * 1024;
const PIECE_BYTES = 64 * 1024;
/** What an answer holds that is a stream: what waits in its buffers. */
const STREAM_BYTES = 2 * PIECE_BYTES;
/** Sweeps in the time after which a client that takes nothing is cut off. */
const SWEEPS = 24;
/** Sweeps without progress after which a connection is closed when its room is needed. */
const SHORT_SWEEPS = 2;
/** Every holder of a limit of the whole installation is the same one. */
const ALL = "";
/** Headers of an answer that is refused in the end. */
const ofContent = /^(?:content-|etag$|cache-control$|last-modified$|vary$)/;

/** The octets as a stream that holds no copy of them: for answers that are the same for every caller. */
export function inPieces(octets: Buffer): Readable {
  return Readable.from(piecesOf(octets), { objectMode: false, highWaterMark: PIECE_BYTES });
}

/** Between two pieces the event loop serves others: the kernel may take megabytes at once. */
async function* piecesOf(octets: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < octets.length; at += PIECE_BYTES) {
    if (at > 0) await nextTurn();
    yield octets.subarray(at, at + PIECE_BYTES);
  }
}

/** What a connection has taken. */
interface Progress {
  /** Octets that the kernel took. */
  taken: number;
  /** The sweep at which it last took some, or had nothing to take. */
  sweep: number;
  /** Of the answer under way, where it is a large one. */
  shares: readonly Share[];
  held: Held | undefined;
}

export class UnsentAnswers {
  readonly #limits: HttpLimits;
  readonly #held = new HeldShares();
  readonly #open = new Map<Socket, Progress>();
  readonly #timer: NodeJS.Timeout;
  #sweep = 0;

  /** @param unreadMs after which a client that takes nothing of its answer is cut off */
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
      // What was changed is changed: its answer is sent in any case.
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

  /** @returns the limit that has no room */
  #take({ ip, raw: { socket } }: FastifyRequest, reply: FastifyReply, octets: number): Limit | undefined {
    const progress = this.#open.get(socket);
    if (progress === undefined) return undefined;
    const shares = [
      { limit: this.#limits.unsentOfNetwork, holder: networkOf(ip) },
      { limit: this.#limits.unsent, holder: ALL },
    ];
    // An answer that is larger than the share of a network takes all of it, and is alone.
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

  /** Closes the connection that has taken nothing for longest among those that hold the share. */
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

/** What an answer counts as; undefined for one that is not counted. */
function octetsOf(payload: unknown): number | undefined {
  if (payload instanceof Readable) return STREAM_BYTES;
  if (typeof payload !== "string" && !Buffer.isBuffer(payload)) return undefined;
  // A string has at least as many octets as characters.
  if (payload.length <= LARGE_BYTES) return undefined;
  return Buffer.byteLength(payload);
}
