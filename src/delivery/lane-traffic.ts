/**
 * The traffic of one lane in one worker: messages that wait, the sessions that carry them, and the lane's limits.
 * A sick lane fills only itself: it has its own connections, and beyond its share the dispatcher leases no more for it.
 */
import { type ComposeOptions, compose } from "./compose.ts";
import { type Attempt, laneWait } from "./conclusion.ts";
import type { Destination } from "./destination.ts";
import type { Lane } from "./lanes.ts";
import { SessionPool, type SessionSettings, type UsedSession } from "./sessions.ts";
import type { Transaction } from "./smtp-envelope.ts";
import type { LeasedMessage } from "./store.ts";
import type { TransportEvents } from "./transport.ts";

/** A lane that was told to slow down without being told for how long. */
const DEFAULT_WAIT_SECONDS = 60;

export interface Load {
  readonly message: LeasedMessage;
  readonly destination: Destination;
}

export class LaneTraffic {
  readonly #lane: Lane;
  readonly #sessions: SessionPool;
  readonly #composing: ComposeOptions;
  readonly #events: TransportEvents;
  readonly #waiting: Load[] = [];
  #runners = 0;
  #pausedUntil = 0;
  /** When the next message may start, under a limit of messages per second. */
  #nextStart = 0;

  constructor(
    lane: Lane,
    settings: Omit<SessionSettings, "requireTls">,
    composing: ComposeOptions,
    events: TransportEvents,
  ) {
    this.#lane = lane;
    this.#sessions = new SessionPool({ ...settings, requireTls: lane.tls_required });
    this.#composing = composing;
    this.#events = events;
  }

  /** Messages waiting or under way. */
  get load(): number {
    return this.#waiting.length + this.#runners;
  }

  add(load: Load): void {
    this.#waiting.push(load);
    if (this.#runners < (this.#lane.connections ?? Number.POSITIVE_INFINITY)) void this.#run();
  }

  close(): void {
    for (const { message } of this.#waiting.splice(0)) this.#events.onDropped(message);
    this.#sessions.close();
  }

  /** One connection's worth of work: message after message, until there is none for it. */
  async #run(): Promise<void> {
    this.#runners += 1;
    let used: UsedSession | undefined;
    let site = "";
    for (let load = this.#next(site); load !== undefined; load = this.#next(site)) {
      if (used && (load.destination.site !== site || this.#isWornOut(used))) {
        this.#putAway(site, used);
        used = undefined;
      }
      site = load.destination.site;
      used = await this.#carry(load, used);
    }
    if (used) this.#putAway(site, used);
    this.#runners -= 1;
  }

  /** The next message that may start, of the same site if possible. */
  #next(site: string): Load | undefined {
    while (this.#waiting.length > 0) {
      const preferred = site === "" ? 0 : this.#waiting.findIndex((load) => load.destination.site === site);
      const [load] = this.#waiting.splice(Math.max(0, preferred), 1);
      if (load === undefined) return undefined;
      const wait = this.#secondsToWait();
      if (wait > 0) this.#events.onPostponed(load.message, wait);
      else if (this.#events.mayStart(load.message)) return load;
      else this.#events.onDropped(load.message);
    }
    return undefined;
  }

  #secondsToWait(): number {
    const now = performance.now();
    if (this.#pausedUntil > now) return (this.#pausedUntil - now) / 1000;
    const rate = this.#lane.messages_per_second;
    if (rate === null) return 0;
    const start = Math.max(this.#nextStart, now);
    // A second's worth may start at once; what comes after it waits its turn in the queue.
    if (start - now > 1000) return (start - now) / 1000;
    this.#nextStart = start + 1000 / rate;
    return 0;
  }

  /** Carries one message and gives back the session it went over, if there is one. */
  async #carry(
    { message, destination }: Load,
    given: UsedSession | undefined,
  ): Promise<UsedSession | undefined> {
    let transaction: Transaction;
    try {
      transaction = await compose(message, this.#composing);
    } catch (error) {
      this.#events.onFault(message, error);
      return given;
    }
    for (let used = given ?? this.#sessions.take(destination.site); ; used = undefined) {
      used ??= await this.#open(message, destination);
      if (used === undefined) return undefined;
      // Composing and connecting took their time, and the lease may be gone.
      if (!this.#events.mayStart(message)) {
        this.#events.onDropped(message);
        return used;
      }
      const isFresh = used.carried === 0;
      used.carried += 1;
      const result = await used.session.send(transaction);
      // A server may close an idle session at any time. Where nothing had begun, a new one is not a second attempt.
      if (result.outcome === "broken" && result.stage === "mail" && !isFresh) continue;
      this.#concluded({ message, result, mxHost: used.session.host });
      return used;
    }
  }

  async #open(message: LeasedMessage, destination: Destination): Promise<UsedSession | undefined> {
    const opened = this.#sessions.coolingDown(destination.site) ?? (await this.#sessions.open(destination));
    if ("session" in opened) return opened;
    this.#concluded({ message, ...opened.failure });
    return undefined;
  }

  #concluded(attempt: Attempt): void {
    const slower = laneWait(attempt.result);
    if (slower) {
      const seconds = slower.seconds ?? DEFAULT_WAIT_SECONDS;
      this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + seconds * 1000);
    }
    this.#events.onAttempt(attempt);
  }

  #isWornOut({ session, carried }: UsedSession): boolean {
    return !session.isOpen || carried >= (this.#lane.messages_per_connection ?? Number.POSITIVE_INFINITY);
  }

  #putAway(site: string, used: UsedSession): void {
    if (this.#isWornOut(used)) void used.session.quit();
    else this.#sessions.park(site, used);
  }
}
