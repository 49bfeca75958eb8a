/**
 * The SMTP sessions of one lane. A new session is tried with the hosts of a site in order, and with each address of a host.
 */

import { isIP } from "node:net";
import type { AttemptResult, SmtpAttempt } from "#delivery/message/attempt.ts";
import { classifyReply } from "#mail/refusals/classify-reply.ts";
import { encodeConversation, type StoredOpening } from "#messages/message/conversation.ts";
import { ExpiringMap } from "#platform/cache.ts";
import { newId } from "#platform/ids.ts";
import type { TransactionResult } from "#smtp-client/outcome.ts";
import { quoteAnswer } from "#smtp-client/reply-reader.ts";
import type { SmtpSession } from "#smtp-client/session.ts";
import { tlsNote } from "#smtp-client/tls.ts";
import { demandsTls } from "#smtp-client/tls-required-reply.ts";
import { Transcript } from "#smtp-client/transcript.ts";
import { smtpFailure } from "#smtp-client/unexpected-reply.ts";
import type { Lane } from "./default-lanes.ts";
import type { Destination } from "./lanes-by-mx-host.ts";
import { SessionOpener, type SessionSettings } from "./session-opener.ts";

/** An idle session is closed after this time. */
const IDLE_MS = 60_000;
/** No further address of a site is tried after this time; an attempt under way may finish. */
const OPENING_MS = 2 * 60_000;
/** Cool-down of a site after a failed opening. A refused connection is cheap to try again, a timeout is not. */
const COOL_MS = { unreachable: 2 * 60_000, timeout: 15 * 60_000, tls: 5 * 60_000, unauthorized: 2 * 60_000 };
/** Sites of one lane that may be cooling down. */
const MOST_REMEMBERED = 10_000;

/** A session and how many messages it has carried. */
export interface PooledSession {
  readonly site: string;
  readonly session: SmtpSession;
  /** Set when the session is in clear text because TLS failed with its host: why it failed. */
  readonly tlsFault: string | null;
  /** How the session was opened, for the timelines of its messages. */
  readonly opening: StoredOpening;
  carried: number;
  /** True: the session is not used for further messages. */
  isOver: boolean;
}

/** The failure that ends the attempt of every message to the site. */
export type OpenFailed = { readonly failure: SmtpAttempt };

/** A site that is not tried until a time of performance.now(). */
export type Cooling = OpenFailed & { readonly until: number };

export class SessionPool {
  readonly #lane: Lane;
  readonly #settings: SessionSettings;
  readonly #sessions = new Set<PooledSession>();
  /** The longest idle session first. */
  readonly #idle: { readonly used: PooledSession; readonly timer: NodeJS.Timeout }[] = [];
  readonly #opener: SessionOpener;
  readonly #cooling = new ExpiringMap<Cooling>(MOST_REMEMBERED);
  #isClosed = false;

  constructor(lane: Lane, settings: SessionSettings) {
    this.#lane = lane;
    this.#settings = settings;
    this.#opener = new SessionOpener(lane, settings);
  }

  get isCooling(): boolean {
    return this.#cooling.size > 0;
  }

  /** Whether `take` would return a session. */
  has(site: string): boolean {
    return this.#idleIndexOf(site) >= 0;
  }

  /** An idle session of the site, the most recently used one, so that the others reach their idle timeout. */
  take(site: string): PooledSession | undefined {
    const at = this.#idleIndexOf(site);
    return at < 0 ? undefined : this.#takeIdle(at);
  }

  /** How many messages a session may still carry; without a session, how many a new one may carry. */
  roomIn(used: PooledSession | undefined): number {
    if (used?.isOver) return 0;
    return (this.#lane.messages_per_connection ?? Number.POSITIVE_INFINITY) - (used?.carried ?? 0);
  }

  /** Keeps a session for the next message, or ends it where there will be none. */
  async putAway(used: PooledSession): Promise<void> {
    if (this.#isClosed || this.roomIn(used) <= 0 || !used.session.isOpen) return this.#end(used);
    const timer = setTimeout(() => {
      this.#takeIdle(this.#idle.findIndex((parked) => parked.used === used));
      void this.#end(used);
    }, IDLE_MS).unref();
    this.#idle.push({ used, timer });
  }

  /** Closes the longest idle sessions until at most `most` are left: idle sessions count as connections. */
  async keepIdle(most: number): Promise<void> {
    const surplus = this.#idle.slice(0, Math.max(0, this.#idle.length - most));
    const ending = surplus.map(({ used }) => {
      this.#takeIdle(0);
      return this.#end(used);
    });
    await Promise.all(ending);
  }

  /**
   * Opens a new session. When every host fails the site cools down, and one failure is returned: the last temporary one, or
   * a permanent one if all are permanent, because a host that did not answer might have taken the message.
   */
  async open({ site, hosts }: Destination): Promise<PooledSession | OpenFailed> {
    const { localAddress } = this.#settings;
    const sourceIp = localAddress ?? null;
    let failure: OpenFailed["failure"] | undefined;
    const transcript = new Transcript();
    const openingId = newId();
    const openingSoFar = () => ({ id: openingId, lines: encodeConversation(transcript.lines) });
    const deadline = performance.now() + OPENING_MS;
    for (const host of hosts) {
      for (const address of host.addresses) {
        if (performance.now() > deadline) break;
        if (localAddress !== undefined && isIP(localAddress) !== isIP(address)) continue;
        const { result, tlsFault } = await this.#opener.open(host, address, transcript);
        if (result.outcome === "open") {
          const { session } = result;
          const opening = openingSoFar();
          return this.#welcome({ site, session, tlsFault, opening, carried: 0, isOver: false });
        }
        if (failure === undefined || isTemporary(result) || !isTemporary(failure.result)) {
          const tls = tlsFault === null ? null : tlsNote(null, host.tls, tlsFault);
          failure = { result, mxHost: host.name, sourceIp, tls };
        }
      }
    }
    failure ??= { result: unreached(localAddress), mxHost: null, sourceIp, tls: null };
    const opening = openingSoFar();
    if (opening.lines !== "") failure = { ...failure, conversation: { opening, lines: "" } };
    this.#cool(site, failure);
    return { failure };
  }

  /**
   * Turns a refusal over clear text into a TLS fault where the host demands TLS although TLS with it has failed: the refusal
   * says nothing about the message, which is deferred, and TLS is tried with the next session.
   */
  checkRefusal(used: PooledSession, result: TransactionResult): TransactionResult {
    const { session, tlsFault } = used;
    if (tlsFault === null || result.outcome !== "refused" || !demandsTls(result)) return result;
    used.isOver = true;
    this.#opener.tryTlsAgain(session.host);
    const reason = `the server accepts mail only over TLS ("${quoteAnswer(result)}"). ${tlsFault}`;
    return smtpFailure(result.stage, { fault: "tls", reason });
  }

  /** The cool-down of a site; undefined when the site may be tried. */
  coolingDown(site: string): Cooling | undefined {
    return this.#cooling.get(site);
  }

  /** The sites that are not tried now. */
  get coolingSites(): Cooling[] {
    return this.#cooling.keys().flatMap((site) => this.#cooling.get(site) ?? []);
  }

  /** Closes idle sessions now, and the others when their conversation ends. */
  close(): void {
    this.#isClosed = true;
    void this.keepIdle(0);
  }

  #welcome(used: PooledSession): PooledSession {
    this.#sessions.add(used);
    this.#cooling.delete(used.site);
    return used;
  }

  #cool(site: string, failure: OpenFailed["failure"]): void {
    const rest = coolDownAfter(failure.result);
    // If other sessions of the site are open, the site only refused one more connection.
    const isServed = [...this.#sessions].some((used) => used.site === site && used.session.isOpen);
    if (rest > 0 && !isServed) this.#cooling.set(site, { failure, until: performance.now() + rest }, rest);
  }

  #idleIndexOf(site: string): number {
    return this.#idle.findLastIndex(({ used }) => used.site === site && used.session.isOpen);
  }

  #takeIdle(at: number): PooledSession | undefined {
    const [parked] = this.#idle.splice(at, 1);
    clearTimeout(parked?.timer);
    return parked?.used;
  }

  async #end(used: PooledSession): Promise<void> {
    await used.session.quit();
    this.#sessions.delete(used);
  }
}

function unreached(localAddress: string | undefined): AttemptResult {
  const reason = `no mail host has an address${localAddress ? ` that ${localAddress} reaches` : ""}`;
  return { outcome: "unroutable", status: "deferred", enhanced: "4.4.4", reason };
}

function isTemporary(result: AttemptResult): boolean {
  return result.outcome !== "refused" || classifyReply(result).retry;
}

/** The cool-down of a site after a failure, in milliseconds. */
function coolDownAfter(result: AttemptResult): number {
  if (result.outcome === "broken" && result.fault !== "closed" && result.fault !== "protocol")
    return COOL_MS[result.fault];
  // A wrong password is wrong for every message, and many attempts with it would lock the account.
  const isLogInFailed = "stage" in result && result.stage === "auth";
  return isLogInFailed ? COOL_MS.unauthorized : 0;
}
