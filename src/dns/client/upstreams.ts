/** All DNS servers that this process has asked, with their state. */
import type { DnsServer } from "#platform/dns-server-address.ts";
import { Upstream } from "./upstream.ts";

/** Idle servers that are remembered. */
const MOST_KNOWN = 2_000;
/** How long the state of a server without open sockets is kept. */
const FORGOTTEN_MS = 60_000;

export class Upstreams {
  readonly #most: number;
  /** Ordered by their last use, the least recent first. */
  readonly #known = new Map<string, Upstream>();

  constructor(most = MOST_KNOWN) {
    this.#most = most;
  }

  get size(): number {
    return this.#known.size;
  }

  /** The servers in the order in which to ask them: silent ones come last. */
  inTurn(servers: readonly DnsServer[]): readonly DnsServer[] {
    const isInTurn = servers.map((server) => this.#known.get(serverKey(server))?.takesItsTurn() ?? true);
    return [...servers.filter((_, at) => isInTurn[at]), ...servers.filter((_, at) => !isInTurn[at])];
  }

  /** Whether one of them has answered any question since that time of `performance.now()`. */
  haveAnsweredSince(servers: readonly DnsServer[], since: number): boolean {
    return servers.some((server) => (this.#known.get(serverKey(server))?.answeredAt ?? -1) >= since);
  }

  /** The state of a server that is about to be asked. */
  of(server: DnsServer): Upstream {
    const key = serverKey(server);
    const upstream = this.#known.get(key) ?? this.#make(key, server);
    this.#known.delete(key);
    this.#known.set(key, upstream);
    return upstream;
  }

  #make(key: string, server: DnsServer): Upstream {
    if (this.#known.size >= this.#most) this.#forgetOldest();
    const forget = () => {
      if (upstream.isIdle && this.#known.get(key) === upstream) this.#known.delete(key);
    };
    const upstream: Upstream = new Upstream(server, () => setTimeout(forget, FORGOTTEN_MS).unref());
    return upstream;
  }

  #forgetOldest(): void {
    for (const [key, upstream] of this.#known) {
      if (upstream.isIdle) {
        this.#known.delete(key);
        return;
      }
    }
  }
}

export function serverKey({ host, port }: DnsServer): string {
  return `${host} ${port}`;
}
