/**
 * The SMTP sessions of one lane, and the way to a new one: the hosts of a site in their order, each address in turn.
 */

import { isIP } from "node:net";
import type { AttemptResult, SmtpAttempt } from "#delivery/message/attempt.ts";
import { classifyReply } from "#mail/refusals/classify-reply.ts";
import { ExpiringMap } from "#platform/cache.ts";
import { smtpFailure } from "#smtp-client/expected-reply.ts";
import type { TransactionResult } from "#smtp-client/outcome.ts";
import { quoteAnswer } from "#smtp-client/reply-reader.ts";
import type { SmtpSession } from "#smtp-client/session.ts";
import { tlsNote } from "#smtp-client/tls.ts";
import { demandsTls } from "#smtp-client/tls-required-reply.ts";
import type { Destination, Lane } from "./lanes.ts";
import { Openings, type SessionSettings } from "./openings.ts";

/** A session that nobody uses is closed after this long. */
const IDLE_MS = 60_000;
/** How long the addresses of one site are tried, one after the other; an attempt under way is let finish. */
const OPENING_MS = 2 * 60_000;
/** How long a host that did not answer is left alone: a refusal is quick news, silence is slow (mail-practice §11). */
const COOL_MS = { unreachable: 2 * 60_000, timeout: 15 * 60_000, tls: 5 * 60_000, unauthorized: 2 * 60_000 };
/** Hosts and sites of one lane about which something is remembered. */
const MOST_REMEMBERED = 10_000;

/** A session and how many messages it has been given. */
export interface UsedSession {
  readonly site: string;
  readonly session: SmtpSession;
  /** Why it is in clear text, where TLS had failed with its host. */
  readonly tlsFault: string | null;
  carried: number;
  /** It is given no more messages. */
  isOver: boolean;
}

/** What a failed opening says about every message that wants to go there. */
export type OpenFailed = { readonly failure: SmtpAttempt };

/** A site that is left alone until a moment of performance.now(). */
export type Cooling = OpenFailed & { readonly until: number };

export class SessionPool {
  readonly #lane: Lane;
  readonly #settings: SessionSettings;
  readonly #sessions = new Set<UsedSession>();
  /** Those nobody uses, the longest idle first. */
  readonly #idle: { readonly used: UsedSession; readonly timer: NodeJS.Timeout }[] = [];
  readonly #openings: Openings;
  readonly #cooling = new ExpiringMap<Cooling>(MOST_REMEMBERED);
  #isClosed = false;

  constructor(lane: Lane, settings: SessionSettings) {
    this.#lane = lane;
    this.#settings = settings;
    this.#openings = new Openings(lane, settings);
  }

  get isCooling(): boolean {
    return this.#cooling.size > 0;
  }

  /** Is there a session to take? */
  has(site: string): boolean {
    return this.#placeOf(site) >= 0;
  }

  /** A session that is open already, if there is one; the one used last, so that others may run out. */
  take(site: string): UsedSession | undefined {
    const at = this.#placeOf(site);
    return at < 0 ? undefined : this.#unpark(at);
  }

  /** How many messages a session may still be given; without one, a new session. */
  roomIn(used: UsedSession | undefined): number {
    if (used?.isOver) return 0;
    return (this.#lane.messages_per_connection ?? Number.POSITIVE_INFINITY) - (used?.carried ?? 0);
  }

  /** Keeps a session for the next message, or ends it where there will be none. */
  async putAway(used: UsedSession): Promise<void> {
    if (this.#isClosed || this.roomIn(used) <= 0 || !used.session.isOpen) return this.#end(used);
    const timer = setTimeout(() => {
      this.#unpark(this.#idle.findIndex((parked) => parked.used === used));
      void this.#end(used);
    }, IDLE_MS).unref();
    this.#idle.push({ used, timer });
  }

  /** Ends the longest idle sessions until no more than `most` are left: they count as connections, too. */
  async keepIdle(most: number): Promise<void> {
    const surplus = this.#idle.slice(0, Math.max(0, this.#idle.length - most));
    const ending = surplus.map(({ used }) => {
      this.#unpark(0);
      return this.#end(used);
    });
    await Promise.all(ending);
  }

  /**
   * Opens a new one. When every host fails the site cools down, and one failure speaks for it: the last that may pass,
   * which is the newest news; one that is for good only where all are, for a host that did not answer might have taken
   * the message.
   */
  async open({ site, hosts }: Destination): Promise<UsedSession | OpenFailed> {
    const { localAddress } = this.#settings;
    const sourceIp = localAddress ?? null;
    let failure: OpenFailed["failure"] | undefined;
    const deadline = performance.now() + OPENING_MS;
    for (const host of hosts) {
      for (const address of host.addresses) {
        if (performance.now() > deadline) break;
        if (localAddress !== undefined && isIP(localAddress) !== isIP(address)) continue;
        const { result, tlsFault } = await this.#openings.open(host, address);
        if (result.outcome === "open")
          return this.#welcome({ site, session: result.session, tlsFault, carried: 0, isOver: false });
        if (failure === undefined || mayPass(result) || !mayPass(failure.result)) {
          const tls = tlsFault === null ? null : tlsNote(null, host.tls, tlsFault);
          failure = { result, mxHost: host.name, sourceIp, tls };
        }
      }
    }
    failure ??= { result: unreached(localAddress), mxHost: null, sourceIp, tls: null };
    this.#cool(site, failure);
    return { failure };
  }

  /**
   * Judges a refusal over a session in clear text. A host that takes no mail without TLS, although TLS with it has failed,
   * says nothing about the message: it waits, and TLS is tried with the next session.
   */
  judge(used: UsedSession, result: TransactionResult): TransactionResult {
    const { session, tlsFault } = used;
    if (tlsFault === null || result.outcome !== "refused" || !demandsTls(result)) return result;
    used.isOver = true;
    this.#openings.tryTlsAgain(session.host);
    const reason = `the server takes mail under TLS only ("${quoteAnswer(result)}"). ${tlsFault}`;
    return smtpFailure(result.stage, { fault: "tls", reason });
  }

  /** Why nobody should try this site now; undefined when it may be tried. */
  coolingDown(site: string): Cooling | undefined {
    return this.#cooling.get(site);
  }

  /** Ends what is idle now and, when its conversation is over, what is not. */
  close(): void {
    this.#isClosed = true;
    void this.keepIdle(0);
  }

  #welcome(used: UsedSession): UsedSession {
    this.#sessions.add(used);
    this.#cooling.delete(used.site);
    return used;
  }

  #cool(site: string, failure: OpenFailed["failure"]): void {
    const rest = restAfter(failure.result);
    // Where others are being served this connection was one too many, and the site is well.
    const isServed = [...this.#sessions].some((used) => used.site === site && used.session.isOpen);
    if (rest > 0 && !isServed) this.#cooling.set(site, { failure, until: performance.now() + rest }, rest);
  }

  #placeOf(site: string): number {
    return this.#idle.findLastIndex(({ used }) => used.site === site && used.session.isOpen);
  }

  #unpark(at: number): UsedSession | undefined {
    const [parked] = this.#idle.splice(at, 1);
    clearTimeout(parked?.timer);
    return parked?.used;
  }

  async #end(used: UsedSession): Promise<void> {
    await used.session.quit();
    this.#sessions.delete(used);
  }
}

function unreached(localAddress: string | undefined): AttemptResult {
  const reason = `no mail host has an address${localAddress ? ` that ${localAddress} reaches` : ""}`;
  return { outcome: "unroutable", status: "deferred", enhanced: "4.4.4", reason };
}

function mayPass(result: AttemptResult): boolean {
  return result.outcome !== "refused" || classifyReply(result).retry;
}

/** How long a site is left alone when it could not be opened, in milliseconds. */
function restAfter(result: AttemptResult): number {
  if (result.outcome === "broken" && result.fault !== "closed" && result.fault !== "protocol")
    return COOL_MS[result.fault];
  // A wrong password is wrong for every message: said a thousand times, it locks the account.
  const isLogInFailed = "stage" in result && result.stage === "auth";
  return isLogInFailed ? COOL_MS.unauthorized : 0;
}
