/**
 * Limits open HTTP connections by network (limits.ts), except for trusted proxies, which carry requests of many
 * clients. At the limit, the connection of the network that has been idle longest is closed; if none is idle, the new
 * one is. A connection that keeps sending after responses with 429 is closed. When the service stops, idle connections
 * and those without complete headers are closed at once, the others after their last response.
 */
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import type { HttpLimits } from "#platform/limits/http-limits.ts";
import { type Held, HeldShares } from "#platform/limits/in-process-shares.ts";
import { networkOf } from "./auth/source-network.ts";

/** Idle time before a connection may be closed for a new one: its client may be about to use it. */
const IDLE_MS = 1_000;

interface Open {
  readonly network: string;
  /** Absent for trusted proxies. */
  readonly held: Held | undefined;
  /** Requests without a response; pipelining allows several (RFC 9112 section 9.3.2). */
  unanswered: number;
  /** Responses with 429. */
  refusals: number;
  idleSince: number;
}

export class Connections {
  readonly #limits: HttpLimits;
  readonly #isProxy: (address: string) => boolean;
  readonly #held = new HeldShares();
  readonly #open = new Map<Socket, Open>();
  /** By network, the longest idle first; without connections that have had no request yet. */
  readonly #idle = new Map<string, Set<Socket>>();
  #isStopping = false;

  constructor(limits: HttpLimits, isProxy: (address: string) => boolean) {
    this.#limits = limits;
    this.#isProxy = isProxy;
  }

  watch(server: FastifyInstance): void {
    server.server.on("connection", (socket) => this.#accept(socket));
    server.server.on("request", ({ socket }, response) => {
      this.#use(socket);
      response.once("close", () => this.#answered(socket));
    });
    server.addHook("onSend", (request, reply, payload, done) => {
      if (reply.statusCode === 429 && this.#hasEnoughRefusals(request.raw.socket)) {
        reply.header("Connection", "close");
      }
      done(null, payload);
    });
    server.addHook("preClose", async () => this.#stop());
  }

  #accept(socket: Socket): void {
    const address = socket.remoteAddress ?? "";
    const network = networkOf(address);
    const held = this.#isProxy(address) ? undefined : this.#takePlace(network);
    if (held === null) {
      socket.destroy();
      return;
    }
    this.#open.set(socket, { network, held, unanswered: 0, refusals: 0, idleSince: 0 });
    socket.once("close", () => this.#forget(socket));
  }

  /** Null if the network is at its limit. */
  #takePlace(network: string): Held | null {
    const share = { limit: this.#limits.connectionsOfNetwork, holder: network };
    let place = this.#held.take([share]);
    if ("reached" in place && this.#closeIdle(network)) place = this.#held.take([share]);
    return "held" in place ? place.held : null;
  }

  #hasEnoughRefusals(socket: Socket): boolean {
    const open = this.#open.get(socket);
    if (open?.held === undefined) return false;
    open.refusals += 1;
    return open.refusals >= this.#limits.refusalsOfConnection.most;
  }

  #closeIdle(network: string): boolean {
    for (const socket of this.#idle.get(network) ?? []) {
      const { idleSince = Infinity } = this.#open.get(socket) ?? {};
      if (performance.now() - idleSince < IDLE_MS) return false;
      this.#forget(socket);
      socket.destroy();
      return true;
    }
    return false;
  }

  #use(socket: Socket): void {
    const open = this.#open.get(socket);
    if (open === undefined) return;
    open.unanswered += 1;
    this.#notIdle(socket, open);
  }

  #answered(socket: Socket): void {
    const open = this.#open.get(socket);
    if (open === undefined || socket.destroyed) return;
    open.unanswered -= 1;
    if (open.unanswered > 0) return;
    if (this.#isStopping) {
      socket.destroySoon();
      return;
    }
    open.idleSince = performance.now();
    const idle = this.#idle.get(open.network) ?? new Set();
    this.#idle.set(open.network, idle);
    idle.add(socket);
  }

  #notIdle(socket: Socket, { network }: Open): void {
    const idle = this.#idle.get(network);
    if (idle?.delete(socket) && idle.size === 0) this.#idle.delete(network);
  }

  #forget(socket: Socket): void {
    const open = this.#open.get(socket);
    if (open === undefined) return;
    this.#open.delete(socket);
    this.#notIdle(socket, open);
    open.held?.release();
  }

  #stop(): void {
    this.#isStopping = true;
    for (const [socket, { unanswered }] of this.#open) {
      if (unanswered === 0) socket.destroy();
    }
  }
}
