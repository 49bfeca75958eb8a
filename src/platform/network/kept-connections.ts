/**
 * HTTP connections that stay open between requests. A connection is used again only by requests to the same origin with the
 * same checked addresses, so it never leads to an address that was not checked for the request.
 */
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent, type RequestOptions } from "node:https";
import type { Duplex } from "node:stream";

/** Shorter than the time after which common servers close an idle connection (Node.js: 5 s). */
const IDLE_MS = 4_000;
/** Idle connections to all origins. */
const MOST_IDLE = 256;

/** Options of a request, with the addresses that were checked for it. */
export interface PinnedOptions extends RequestOptions {
  readonly addresses: readonly string[];
}

export class KeptConnections {
  readonly #idle: IdleConnections;
  readonly #plain: HttpAgent;
  readonly #tls: HttpsAgent;

  /** @param mostIdle beyond it, the connection that has been idle longest is closed */
  constructor(mostIdle = MOST_IDLE) {
    this.#idle = new IdleConnections(mostIdle);
    const options = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: mostIdle };
    this.#plain = keeping(new HttpAgent(options), this.#idle);
    this.#tls = keeping(new HttpsAgent(options), this.#idle);
  }

  /** The agent of node:http or node:https for the requests of a protocol; they must have PinnedOptions. */
  agentFor(protocol: string): HttpAgent {
    return protocol === "https:" ? this.#tls : this.#plain;
  }

  /** The number of idle connections. */
  get idleCount(): number {
    return this.#idle.size;
  }
}

/** Idle connections, the one that has been idle longest first. */
class IdleConnections {
  readonly #most: number;
  /** With what is called when the connection closes. */
  readonly #idle = new Map<Duplex, () => void>();

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#idle.size;
  }

  add(connection: Duplex): void {
    const onClose = () => this.remove(connection);
    this.#idle.set(connection, onClose);
    connection.once("close", onClose);
    const [oldest] = this.#idle.size > this.#most ? this.#idle.keys() : [];
    if (oldest === undefined) return;
    // It closes later; until then more connections may be added.
    this.remove(oldest);
    oldest.destroy();
  }

  remove(connection: Duplex): void {
    const onClose = this.#idle.get(connection);
    if (onClose === undefined) return;
    connection.off("close", onClose);
    this.#idle.delete(connection);
  }
}

/** Makes the addresses a part of the name under which an agent keeps connections and TLS sessions, and counts idle ones. */
function keeping<A extends HttpAgent>(agent: A, idle: IdleConnections): A {
  const getName = agent.getName.bind(agent);
  const keepSocketAlive = agent.keepSocketAlive.bind(agent);
  const reuseSocket = agent.reuseSocket.bind(agent);
  return Object.assign(agent, {
    getName: (request: Partial<PinnedOptions> = {}) =>
      `${getName(request)} ${request.addresses?.toSorted().join()}`,
    keepSocketAlive(connection: Duplex) {
      // The types lack the answer: false if the server closes the connection too soon.
      const isKept: unknown = keepSocketAlive(connection);
      if (isKept === true) idle.add(connection);
      return isKept;
    },
    reuseSocket(...reused: Parameters<HttpAgent["reuseSocket"]>) {
      idle.remove(reused[0]);
      reuseSocket(...reused);
    },
  });
}
