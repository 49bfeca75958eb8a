import { isIP } from "node:net";
import type { Resolver } from "#dns/resolver-interface.ts";
import { ExpiringMap } from "#platform/cache.ts";
import { localNetworks } from "#platform/network/own-addresses.ts";
import { standardDeadlines } from "#smtp-client/deadlines.ts";
import { lookUpHost } from "#smtp-client/mx.ts";
import type { SmtpFault } from "#smtp-client/outcome.ts";
import type { ProbeDeadline } from "./probe-deadline.ts";
import type { ProviderRateLimit } from "./provider-rate-limit.ts";
import {
  type BrokenSession,
  type ProbeRecipients,
  type ProbeSession,
  type ProbeSessionOptions,
  runSession,
} from "./smtp-session.ts";

const MOST_ADDRESSES = 3;
/** How long an address that could not be reached is skipped. */
const UNREACHABLE_MS = 2 * 60_000;
/** How long an address whose TLS is broken is asked without TLS. */
const BROKEN_TLS_MS = 60 * 60_000;
const MOST_REMEMBERED = 10_000;
const LONGEST_CONNECT_MS = 4_000;
/** The share of a probe's time that connecting may take, so that some is left for the next address. */
const CONNECT_SHARE = 1 / 3;

export interface HostClientOptions extends Pick<ProbeSessionOptions, "port" | "ehloName" | "secureContext"> {
  readonly resolver: Pick<Resolver, "ipv4" | "ipv6">;
  /** Connect to private and loopback addresses, too. */
  readonly allowPrivate: boolean;
  readonly rateLimit: ProviderRateLimit;
}

export interface ProbeLimits {
  readonly deadline: ProbeDeadline;
  /** Expires before the deadline: a session that the rate limit holds back until then is not begun. */
  readonly startDeadline: ProbeDeadline;
  /** The source address; null leaves it to the operating system. */
  readonly localAddress: string | null;
}

/**
 * Asks mail hosts about recipients: tries their public addresses in turn, with TLS if the host offers it, and in clear
 * text where TLS fails, as mail delivery does (RFC 7435).
 */
export class HostClient {
  readonly #options: HostClientOptions;
  /** By source and destination address. */
  readonly #unreachable = new ExpiringMap<BrokenSession>(MOST_REMEMBERED);
  readonly #brokenTls = new ExpiringMap<true>(MOST_REMEMBERED);

  constructor(options: HostClientOptions) {
    this.#options = options;
  }

  /**
   * The session with the first address that answers; `broken` when none does, undefined when the rate limit allowed no
   * session. Never rejects.
   */
  async ask(
    host: string,
    recipients: ProbeRecipients,
    limits: ProbeLimits,
  ): Promise<ProbeSession | undefined> {
    const { deadline, localAddress } = limits;
    const found = await deadline.race(this.#addressesOf(host, localAddress));
    if ("fault" in found) return { outcome: "broken", stage: "connect", fault: found, tlsFailed: false };
    let result: ProbeSession | undefined;
    for (const address of found.slice(0, MOST_ADDRESSES)) {
      result = (await this.#askAt(host, address, recipients, limits)) ?? result;
      if ((result !== undefined && result.outcome !== "broken") || deadline.fault !== null) break;
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

  async #askAt(host: string, address: string, recipients: ProbeRecipients, limits: ProbeLimits) {
    const { deadline, startDeadline, localAddress } = limits;
    const route = `${localAddress ?? ""} ${address}`;
    const known = this.#unreachable.get(route);
    if (known !== undefined) return known;
    const result = await this.#options.rateLimit.run(`address ${address}`, startDeadline, () =>
      this.#runSession(host, address, recipients, limits),
    );
    if (result !== undefined && isUnreachable(result, deadline)) {
      this.#unreachable.set(route, result, UNREACHABLE_MS);
    }
    return result;
  }

  async #runSession(
    host: string,
    address: string,
    recipients: ProbeRecipients,
    { deadline, localAddress }: ProbeLimits,
  ) {
    const { port, ehloName, secureContext } = this.#options;
    const { totalMs } = deadline;
    const options = {
      host,
      address,
      port,
      ehloName,
      secureContext,
      deadline,
      deadlines: {
        ...standardDeadlines,
        connect: Math.min(LONGEST_CONNECT_MS, totalMs * CONNECT_SHARE),
        banner: totalMs / 2,
        ehlo: totalMs / 2,
        starttls: totalMs / 3,
        ehloUnderTls: totalMs / 3,
      },
      ...(localAddress === null ? {} : { localAddress }),
    };
    if (this.#brokenTls.get(address)) return runSession({ ...options, tls: "none" }, recipients);
    const result = await runSession({ ...options, tls: "opportunistic" }, recipients);
    if (result.outcome !== "broken" || !result.tlsFailed || deadline.fault !== null) return result;
    this.#brokenTls.set(address, true, BROKEN_TLS_MS);
    return runSession({ ...options, tls: "none" }, recipients);
  }
}

/** Whether the address could not be reached, although the probe left enough time to connect. */
function isUnreachable(result: ProbeSession, { fault, totalMs }: ProbeDeadline): result is BrokenSession {
  if (result.outcome !== "broken" || result.stage !== "connect" || fault !== null) return false;
  return result.fault.fault !== "timeout" || totalMs * CONNECT_SHARE >= LONGEST_CONNECT_MS;
}
