/**
 * Open SMTP sessions of one lane, by site, and the way to a new one: the hosts of a site in their order, each address
 * in turn, TLS when it is offered and in clear text where only TLS fails (opportunistic, RFC 7435).
 */

import { isLoopback } from "../platform/public-address.ts";
import type { Attempt } from "./conclusion.ts";
import type { Destination } from "./destination.ts";
import type { Credentials } from "./smtp-auth.ts";
import { type OpenResult, openSession, type SessionOptions, type SmtpSession } from "./smtp-session.ts";

/** A session that nobody uses is closed after this long. */
const IDLE_MS = 60_000;
/** A host whose TLS is broken is spoken to in clear text for three days. */
const BROKEN_TLS_MS = 3 * 24 * 60 * 60_000;
/** How long the addresses of one site are tried, one after the other; an attempt under way is let finish. */
const OPENING_MS = 2 * 60_000;
/** How long a host that did not answer is left alone: a refusal is quick news, silence is slow (mail-practice §11). */
const COOL_MS = { unreachable: 2 * 60_000, timeout: 15 * 60_000, unauthorized: 2 * 60_000 };

export interface SessionSettings {
  readonly port: number;
  readonly ehloName: string;
  readonly requireTls: boolean;
  /** What a smart host wants. */
  readonly implicitTls?: boolean;
  readonly credentials?: Credentials | undefined;
  readonly options?: Pick<SessionOptions, "deadlines" | "secureContext">;
}

/** A session and how many messages it has been given. */
export interface UsedSession {
  readonly session: SmtpSession;
  carried: number;
}

/** What a failed opening says about every message that wants to go there. */
export type OpenFailed = { readonly failure: Pick<Attempt, "result" | "mxHost"> };

export class SessionPool {
  readonly #settings: SessionSettings;
  readonly #idle = new Map<string, { used: UsedSession; timer: NodeJS.Timeout }[]>();
  readonly #brokenTls = new Map<string, number>();
  readonly #cooling = new Map<string, OpenFailed & { until: number }>();
  #isClosed = false;

  constructor(settings: SessionSettings) {
    this.#settings = settings;
  }

  /** A session that is open already, if there is one. */
  take(site: string): UsedSession | undefined {
    const sessions = this.#idle.get(site);
    for (let parked = sessions?.pop(); parked !== undefined; parked = sessions?.pop()) {
      clearTimeout(parked.timer);
      if (parked.used.session.isOpen) return parked.used;
    }
    return undefined;
  }

  /** Keeps a session for the next message, or ends it where there will be none. */
  park(site: string, used: UsedSession): void {
    if (!used.session.isOpen) return;
    if (this.#isClosed) return void used.session.quit();
    const sessions = this.#idle.get(site) ?? [];
    this.#idle.set(site, sessions);
    const timer = setTimeout(() => {
      sessions.splice(
        sessions.findIndex((parked) => parked.used === used),
        1,
      );
      void used.session.quit();
    }, IDLE_MS).unref();
    sessions.push({ used, timer });
  }

  /** Opens a new one. When every host fails, the last failure speaks for the site and cools it down. */
  async open({ site, hosts }: Destination): Promise<UsedSession | OpenFailed> {
    let failure: OpenFailed["failure"] = {
      result: {
        outcome: "unroutable",
        status: "deferred",
        enhanced: "4.4.4",
        reason: "no mail host has an address",
      },
      mxHost: null,
    };
    const deadline = performance.now() + OPENING_MS;
    for (const host of hosts) {
      for (const address of host.addresses) {
        if (performance.now() > deadline) break;
        const opened = await this.#openHost(host.name, address);
        if (opened.outcome === "open") return { session: opened.session, carried: 0 };
        failure = { result: opened, mxHost: host.name };
      }
    }
    this.#cool(site, failure);
    return { failure };
  }

  /** Why nobody should try this site now; undefined when it may be tried. */
  coolingDown(site: string): OpenFailed | undefined {
    const cooling = this.#cooling.get(site);
    if (cooling && cooling.until > performance.now()) return cooling;
    this.#cooling.delete(site);
    return undefined;
  }

  /** Ends what is idle now and, when its conversation is over, what is not. */
  close(): void {
    this.#isClosed = true;
    for (const sessions of this.#idle.values()) {
      for (const { used, timer } of sessions) {
        clearTimeout(timer);
        void used.session.quit();
      }
    }
    this.#idle.clear();
  }

  async #openHost(host: string, address: string): Promise<OpenResult> {
    const { port, ehloName, requireTls, implicitTls, credentials, options } = this.#settings;
    const target = { host, address, port, ehloName, credentials, ...options };
    if (implicitTls) return openSession({ ...target, tls: "implicit" });
    const mustEncrypt = requireTls || (credentials !== undefined && !isLoopback(address));
    const knownBroken = (this.#brokenTls.get(host) ?? 0) > performance.now();
    if (knownBroken && !mustEncrypt) return openSession({ ...target, tls: "none" });
    const opened = await openSession({ ...target, tls: mustEncrypt ? "required" : "opportunistic" });
    if (opened.outcome === "open" || !opened.tlsFailed || mustEncrypt) return opened;
    this.#brokenTls.set(host, performance.now() + BROKEN_TLS_MS);
    return openSession({ ...target, tls: "none" });
  }

  #cool(site: string, failure: OpenFailed["failure"]): void {
    const rest = restAfter(failure.result);
    if (rest > 0) this.#cooling.set(site, { until: performance.now() + rest, failure });
  }
}

/** How long a site is left alone when it could not be opened, in milliseconds. */
function restAfter(result: Attempt["result"]): number {
  if (result.outcome === "broken" && (result.fault === "unreachable" || result.fault === "timeout"))
    return COOL_MS[result.fault];
  // A wrong password is wrong for every message: said a thousand times, it locks the account.
  const isLogInFailed = "stage" in result && result.stage === "auth";
  return isLogInFailed ? COOL_MS.unauthorized : 0;
}
