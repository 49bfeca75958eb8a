const DEFAULTS = {
  /** How long a message may stall: RFC 5321 section 4.5.3.2.5. */
  stallMs: 3 * 60_000,
  /** How long a session may be idle while the port is crowded. */
  crowdedIdleMs: 30_000,
  /** A session that has been idle for less is never ended in favour of a new one. */
  graceMs: 5_000,
};
/** The port is crowded when more than this share of all sessions is in use. */
const CROWDED = 0.8;
/** Octets of a message per second that count as progress, as with Postfix's smtpd_min_data_rate. */
const MIN_DATA_RATE = 500;
/** Idle sessions are looked for this many times within the shortest time limit. */
const CHECKS_PER_LIMIT = 10;
const LONGEST_CHECK_MS = 1_000;

/** One session among those of its port. */
export interface SessionSlot {
  /** The session is not idle: a login succeeded, or a message was accepted. */
  progress(): void;
  /** DATA: the message is being received until `endMessage`. */
  beginMessage(): void;
  receive(octets: number): void;
  /** The whole message has arrived. The session is not idle while the client waits for the reply. */
  endMessage(): void;
  /** Frees the slot. Further calls have no effect. */
  leave(): void;
}

/**
 * Limits the SMTP sessions of one network, and all sessions together. Ports of the same purpose share one object.
 *
 * A session is idle since its last progress: its start, a login, an accepted message, or octets of a message that arrive
 * fast enough. Commands alone are no progress, because they cost a client nothing. While the port is crowded, idle
 * sessions are ended sooner. While it is full, the session that has been idle longest is ended for a new one, unless its
 * network has fewer sessions than the network of the new one would have.
 */
export class ConnectionCaps {
  readonly #most: { readonly perNetwork: number; readonly all: number };
  readonly #deadlines: typeof DEFAULTS;
  readonly #networks = new Map<string, number>();
  readonly #sessions = new Set<Session>();
  #checking: NodeJS.Timeout | undefined;

  constructor(
    most: { readonly perNetwork: number; readonly all: number },
    deadlines: Partial<typeof DEFAULTS> = {},
  ) {
    this.#most = most;
    this.#deadlines = { ...DEFAULTS, ...deadlines };
  }

  /**
   * Takes a slot for a new session; null when there are too many sessions.
   * @param end called with the reason when the session has to end; its slot is free by then
   */
  admit(network: string, end: (reason: string) => void): SessionSlot | null {
    if (this.#of(network) >= this.#most.perNetwork) return null;
    if (this.#sessions.size >= this.#most.all && !this.#makeRoomFor(network)) return null;
    const session = new Session(network, end, (gone) => this.#forget(gone));
    this.#sessions.add(session);
    this.#networks.set(network, this.#of(network) + 1);
    const { stallMs, crowdedIdleMs } = this.#deadlines;
    this.#checking ??= setInterval(
      () => this.#endIdle(),
      Math.min(LONGEST_CHECK_MS, Math.min(stallMs, crowdedIdleMs) / CHECKS_PER_LIMIT),
    ).unref();
    return session;
  }

  #of(network: string): number {
    return this.#networks.get(network) ?? 0;
  }

  #makeRoomFor(network: string): boolean {
    const { graceMs, crowdedIdleMs } = this.#deadlines;
    const least = this.#of(network) + 1;
    let longest: Session | undefined;
    for (const session of this.#sessions) {
      const idleMs = session.idleMs();
      if (idleMs < (session.isReceiving ? crowdedIdleMs : graceMs)) continue;
      if (session.network !== network && this.#of(session.network) < least) continue;
      if (idleMs <= (longest?.idleMs() ?? 0)) continue;
      longest = session;
    }
    longest?.end("4.3.2 Too many sessions: an idle one makes room for another");
    return longest !== undefined;
  }

  /** Ends stalled messages; then idle sessions, longest idle first, until the port is no longer crowded. */
  #endIdle(): void {
    const { stallMs, crowdedIdleMs } = this.#deadlines;
    const isCrowded = () => this.#sessions.size > this.#most.all * CROWDED;
    for (const session of this.#sessions) {
      if (session.isReceiving && session.idleMs() >= stallMs)
        session.end("4.4.2 The message comes too slowly");
    }
    if (!isCrowded()) return;
    const idle = [...this.#sessions]
      .filter((session) => session.idleMs() >= crowdedIdleMs)
      .sort((one, other) => other.idleMs() - one.idleMs());
    for (const session of idle) {
      if (!isCrowded()) return;
      session.end("4.3.2 Too many sessions: idle ones are ended");
    }
  }

  #forget(session: Session): void {
    if (!this.#sessions.delete(session)) return;
    const left = this.#of(session.network) - 1;
    if (left === 0) this.#networks.delete(session.network);
    else this.#networks.set(session.network, left);
    if (this.#sessions.size > 0) return;
    clearInterval(this.#checking);
    this.#checking = undefined;
  }
}

class Session implements SessionSlot {
  readonly network: string;
  readonly #end: (reason: string) => void;
  readonly #onLeave: (session: Session) => void;
  #state: "commands" | "receiving" | "processing" = "commands";
  #lastProgress = performance.now();

  constructor(network: string, end: (reason: string) => void, onLeave: (session: Session) => void) {
    this.network = network;
    this.#end = end;
    this.#onLeave = onLeave;
  }

  get isReceiving(): boolean {
    return this.#state === "receiving";
  }

  idleMs(): number {
    return this.#state === "processing" ? 0 : performance.now() - this.#lastProgress;
  }

  progress(): void {
    this.#state = "commands";
    this.#lastProgress = performance.now();
  }

  beginMessage(): void {
    this.#state = "receiving";
    this.#lastProgress = performance.now();
  }

  /** Each octet moves the last progress on by its time at MIN_DATA_RATE, at most to now. */
  receive(octets: number): void {
    this.#lastProgress = Math.min(performance.now(), this.#lastProgress + (octets / MIN_DATA_RATE) * 1_000);
  }

  endMessage(): void {
    this.#state = "processing";
  }

  end(reason: string): void {
    this.leave();
    this.#end(reason);
  }

  leave(): void {
    this.#onLeave(this);
  }
}
