/**
 * From the name of a mail host to a conversation with it: its public addresses in turn, TLS when it is offered and
 * clear text where only TLS fails, as mail itself would go (RFC 7435).
 */
import { isIP } from "node:net";
import type { Resolver } from "#dns/resolver.ts";
import { ExpiringMap } from "#platform/cache.ts";
import { localNetworks } from "#platform/network/local-networks.ts";
import { standardDeadlines } from "#smtp-client/deadlines.ts";
import { lookUpHost } from "#smtp-client/mx.ts";
import type { SmtpFault } from "#smtp-client/outcome.ts";
import {
  type Asked,
  type Asking,
  type Broken,
  type ConversationOptions,
  converse,
  type Refused,
} from "./conversation.ts";
import type { CutOff } from "./cut-off.ts";
import type { ProviderTurns } from "./provider-turns.ts";

const MOST_ADDRESSES = 3;
/** How long an address that could not be reached, or whose TLS is broken, is remembered. */
const UNREACHABLE_MS = 2 * 60_000;
const BROKEN_TLS_MS = 60 * 60_000;
const MOST_REMEMBERED = 10_000;
const LONGEST_CONNECT_MS = 4_000;
/** The share of a probe's time that connecting may take, so that a silent host leaves some for the next one. */
const CONNECT_SHARE = 1 / 3;

export interface DoorOptions extends Pick<ConversationOptions, "port" | "ehloName" | "secureContext"> {
  readonly resolver: Pick<Resolver, "ipv4" | "ipv6">;
  /** Talk to hosts on private and loopback addresses, too. */
  readonly allowPrivate: boolean;
  readonly turns: ProviderTurns;
}

/** How long all of it may take, and where it starts from. */
export interface Knock {
  readonly cutOff: CutOff;
  /** Comes before the cut-off: a conversation whose turn is later is not begun any more. */
  readonly lastCall: CutOff;
  readonly localAddress: string | null;
}

export class HostDoor {
  readonly #options: DoorOptions;
  readonly #unreachable = new ExpiringMap<Broken>(MOST_REMEMBERED);
  readonly #brokenTls = new ExpiringMap<true>(MOST_REMEMBERED);

  constructor(options: DoorOptions) {
    this.#options = options;
  }

  /**
   * Asks at the first address that hears the question; `broken` when none does, undefined when our turn came at none.
   * Never rejects.
   */
  async ask(host: string, asking: Asking, knock: Knock): Promise<Asked | Refused | Broken | undefined> {
    const { cutOff, localAddress } = knock;
    const found = await cutOff.race(this.#addressesOf(host, localAddress));
    if ("fault" in found) return unreached(found);
    let result: Asked | Refused | Broken | undefined;
    for (const address of found.slice(0, MOST_ADDRESSES)) {
      result = (await this.#askAt(host, address, asking, knock)) ?? result;
      if ((result !== undefined && result.outcome !== "broken") || cutOff.fault !== null) break;
    }
    return result;
  }

  async #addressesOf(host: string, localAddress: string | null): Promise<readonly string[] | SmtpFault> {
    const { resolver, allowPrivate } = this.#options;
    const addresses = (name: string) => Promise.all([resolver.ipv4(name), resolver.ipv6(name)]);
    const { usable: found, forbidden, failure } = await lookUpHost({ addresses }, host, allowPrivate);
    const usable = found.filter((address) => allowPrivate || !localNetworks().has(address));
    const family = isIP(localAddress ?? "");
    const fitting = usable.filter((address) => family === 0 || isIP(address) === family);
    if (fitting.length > 0) return fitting;
    if (forbidden.length > 0 || usable.length < found.length)
      return { fault: "unreachable", reason: `${host} has no public address` };
    return {
      fault: "unreachable",
      reason: failure === null ? `${host} has no address` : `${host}: ${failure.reason}`,
    };
  }

  async #askAt(host: string, address: string, asking: Asking, knock: Knock) {
    const { cutOff, lastCall, localAddress } = knock;
    const way = `${localAddress ?? ""} ${address}`;
    const known = this.#unreachable.get(way);
    if (known !== undefined) return known;
    const result = await this.#options.turns.take(`address ${address}`, lastCall, () =>
      this.#converse(host, address, asking, knock),
    );
    if (result !== undefined && isDown(result, cutOff)) this.#unreachable.set(way, result, UNREACHABLE_MS);
    return result;
  }

  async #converse(host: string, address: string, asking: Asking, { cutOff, localAddress }: Knock) {
    const { port, ehloName, secureContext } = this.#options;
    const { deadlineMs } = cutOff;
    const options = {
      host,
      address,
      port,
      ehloName,
      secureContext,
      cutOff,
      deadlines: {
        ...standardDeadlines,
        connect: Math.min(LONGEST_CONNECT_MS, deadlineMs * CONNECT_SHARE),
        banner: deadlineMs / 2,
        ehlo: deadlineMs / 2,
        starttls: deadlineMs / 3,
        ehloUnderTls: deadlineMs / 3,
      },
      ...(localAddress === null ? {} : { localAddress }),
    };
    if (this.#brokenTls.get(address)) return converse({ ...options, tls: "none" }, asking);
    const result = await converse({ ...options, tls: "opportunistic" }, asking);
    if (result.outcome !== "broken" || !result.tlsFailed || cutOff.fault !== null) return result;
    this.#brokenTls.set(address, true, BROKEN_TLS_MS);
    return converse({ ...options, tls: "none" }, asking);
  }
}

/** Nobody is there; not merely nobody in what little time there was. */
function isDown(result: Asked | Refused | Broken, { fault, deadlineMs }: CutOff): result is Broken {
  if (result.outcome !== "broken" || result.stage !== "connect" || fault !== null) return false;
  return result.fault.fault !== "timeout" || deadlineMs * CONNECT_SHARE >= LONGEST_CONNECT_MS;
}

function unreached(fault: SmtpFault): Broken {
  return { outcome: "broken", stage: "connect", fault, tlsFailed: false };
}
