/**
 * How many SMTP sessions there may be: from one network, and in all. One object is shared by the ports of a purpose.
 *
 * A session is idle from its last progress on: its begin, a login, a message that was taken, or octets of a message that
 * come fast enough. Commands alone are no progress, because they cost a client nothing. While most sessions are taken,
 * idle ones are ended sooner; while all are, the one that has been idle longest makes room for a new one, unless its
 * network has fewer sessions than the new one's would.
 */

const DEFAULTS = {
  /** A message may stall so long: RFC 5321 section 4.5.3.2.5. */
  stallMs: 3 * 60_000,
  /** A session may be idle so long while most sessions are taken. */
  crowdedIdleMs: 30_000,
  /** No session makes room for another before. */
  graceMs: 5_000,
};
/** The part of all sessions above which the port is crowded. */
const CROWDED = 0.8;
/** Octets of a message in a second that count as progress, as with Postfix's smtpd_min_data_rate. */
const LEAST_RATE = 500;
/** Looked at so often within the shortest time limit. */
const LOOKS = 10;
const LONGEST_LOOK_MS = 1_000;

export interface Admission {
  /** A login, or a message that was taken. */
  progress(): void;
  /** Between the two, octets of a message come. */
  beginMessage(): void;
  receive(octets: number): void;
  /** The message has come whole: until the next progress the client waits for us. */
  endMessage(): void;
  /** Counts the session out, once. */
  leave(): void;
}

export class ConnectionCaps {
  readonly #most: { readonly perNetwork: number; readonly all: number };
  readonly #deadlines: typeof DEFAULTS;
  readonly #networks = new Map<string, number>();
  readonly #sessions = new Set<Session>();
  #looking: NodeJS.Timeout | undefined;

  constructor(
    most: { readonly perNetwork: number; readonly all: number },
    deadlines: Partial<typeof DEFAULTS> = {},
  ) {
    this.#most = most;
    this.#deadlines = { ...DEFAULTS, ...deadlines };
  }

  /**
   * Counts a session in; null when there are too many.
   * @param end called when the session has to go, with the reason: it has been counted out then
   */
  admit(network: string, end: (reason: string) => void): Admission | null {
    if (this.#of(network) >= this.#most.perNetwork) return null;
    if (this.#sessions.size >= this.#most.all && !this.#makeRoomFor(network)) return null;
    const session = new Session(network, end, (gone) => this.#forget(gone));
    this.#sessions.add(session);
    this.#networks.set(network, this.#of(network) + 1);
    const { stallMs, crowdedIdleMs } = this.#deadlines;
    this.#looking ??= setInterval(
      () => this.#endIdle(),
      Math.min(LONGEST_LOOK_MS, Math.min(stallMs, crowdedIdleMs) / LOOKS),
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

  /** The longest idle first, and no more than it takes until the port is crowded no more. */
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
    clearInterval(this.#looking);
    this.#looking = undefined;
  }
}

class Session implements Admission {
  readonly network: string;
  readonly #end: (reason: string) => void;
  readonly #onLeave: (session: Session) => void;
  #state: "talking" | "receiving" | "waiting for us" = "talking";
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
    return this.#state === "waiting for us" ? 0 : performance.now() - this.#lastProgress;
  }

  progress(): void {
    this.#state = "talking";
    this.#lastProgress = performance.now();
  }

  beginMessage(): void {
    this.#state = "receiving";
    this.#lastProgress = performance.now();
  }

  /** At the least rate or faster, the session is never idle; slower, it is idle for the time that is missing. */
  receive(octets: number): void {
    this.#lastProgress = Math.min(performance.now(), this.#lastProgress + (octets / LEAST_RATE) * 1_000);
  }

  endMessage(): void {
    this.#state = "waiting for us";
  }

  end(reason: string): void {
    this.leave();
    this.#end(reason);
  }

  leave(): void {
    this.#onLeave(this);
  }
}
