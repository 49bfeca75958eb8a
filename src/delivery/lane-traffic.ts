/**
 * The traffic of one lane in one worker: messages that wait, and the sessions that carry them at the lane's pace. A
 * sick lane fills only itself: it has its own connections and its share of the worker's memory, and what does not
 * fit goes back to the queue.
 *
 * A message is carried by a runner, of which there are as many as connections may be open. When the pace allows no
 * next message the runners end, and one timer starts them again.
 */
import { type ComposeOptions, prepare } from "./compose.ts";
import type { Attempt } from "./conclusion.ts";
import type { Destination } from "./destination.ts";
import { LanePace } from "./lane-pace.ts";
import type { Lane } from "./lanes.ts";
import { type Cooling, SessionPool, type SessionSettings, type UsedSession } from "./sessions.ts";
import type { TransactionResult } from "./smtp-outcome.ts";
import type { LeasedMessage, Priority } from "./store.ts";
import type { TransportEvents } from "./transport.ts";

/** Through a pause no longer than this messages wait here; a lease has to be held all the while. */
const LONGEST_HOLD_MS = 45_000;

export interface Load {
  readonly message: LeasedMessage;
  readonly destination: Destination;
}

/** A load that may start, with the session for it; a new one may be opened where there is none. */
interface Start extends Load {
  readonly used: UsedSession | undefined;
}

export class LaneTraffic {
  readonly #sessions: SessionPool;
  readonly #pace: LanePace;
  readonly #composing: ComposeOptions;
  readonly #events: TransportEvents;
  /** By priority. */
  readonly #waiting: Readonly<Record<Priority, Load[]>> = { 0: [], 1: [] };
  #runners = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(lane: Lane, settings: SessionSettings, composing: ComposeOptions, events: TransportEvents) {
    this.#pace = new LanePace(lane);
    this.#sessions = new SessionPool(lane, settings);
    this.#composing = composing;
    this.#events = events;
  }

  /** Messages waiting or under way. */
  get load(): number {
    return this.#length + this.#runners;
  }

  /** Nothing is to be done, and nothing was learned that would be missed. */
  get isForgettable(): boolean {
    return this.load === 0 && this.#pace.isUsual && !this.#sessions.isCooling;
  }

  /** Should no more be leased for this lane? Half its share stays free for the batch that is on its way. */
  isSaturated(priority: Priority): boolean {
    const ahead = priority === 0 ? this.load - this.#waiting[1].length : this.load;
    return this.#pace.pauseLeft > 0 || ahead >= this.#pace.share / 2;
  }

  /** Takes a message on; when the lane is full the last in line goes back to the queue. */
  add(load: Load): void {
    this.#waiting[load.message.priority].push(load);
    if (this.#length > this.#pace.share) {
      const last = this.#waiting[1].pop() ?? this.#waiting[0].pop();
      if (last) this.#events.onPostponed(last.message, this.#pace.returnIn() / 1_000);
    }
    this.#returnThroughPause();
    this.#wake();
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const { message } of this.#takeAll()) this.#events.onDropped(message);
    this.#sessions.close();
  }

  #wake(): void {
    while (this.#runners < this.#pace.connections) {
      const start = this.#next();
      if (start === undefined) return;
      void this.#run(start);
    }
  }

  /** One connection's worth of work: message after message, until none may start. */
  async #run(first: Start): Promise<void> {
    this.#runners += 1;
    try {
      for (let start: Start | undefined = first; start !== undefined; ) {
        const used = await this.#carry(start);
        if (used) await this.#sessions.putAway(used);
        start = this.#runners > this.#pace.connections ? undefined : this.#next(start.destination.site);
      }
    } finally {
      this.#runners -= 1;
    }
  }

  /** The next message that may start now, transactional mail first, then one for `site`; else sets the timer. */
  #next(site?: string): Start | undefined {
    while (this.#length > 0) {
      const wait = this.#pace.untilMessage();
      const load = wait > 0 ? undefined : this.#pick(site);
      if (load === undefined) {
        clearTimeout(this.#timer);
        const ms = Math.ceil(wait || this.#pace.untilConnection());
        this.#timer = setTimeout(() => this.#wake(), ms).unref();
        return undefined;
      }
      const start = this.#admit(load);
      if (start) return start;
    }
    return undefined;
  }

  /** Takes out of the line who is next among those who have a session, or everybody if another one may be opened. */
  #pick(site: string | undefined): Load | undefined {
    const mayConnect = this.#pace.untilConnection() === 0;
    const canGo = ({ destination }: Load) => mayConnect || this.#sessions.has(destination.site);
    for (const line of [this.#waiting[0], this.#waiting[1]]) {
      const sameSite = line.findIndex((load) => load.destination.site === site && canGo(load));
      const at = sameSite < 0 ? line.findIndex(canGo) : sameSite;
      const [load] = at < 0 ? [] : line.splice(at, 1);
      if (load) return load;
    }
    return undefined;
  }

  /** Books what the message needs; undefined when it was given back instead. */
  #admit(load: Load): Start | undefined {
    const { message, destination } = load;
    if (!this.#events.mayStart(message)) {
      this.#events.onDropped(message);
      return undefined;
    }
    const used = this.#sessions.take(destination.site);
    if (used === undefined) {
      const cooling = this.#sessions.coolingDown(destination.site);
      if (cooling) return this.#turnAway(message, cooling);
      this.#pace.takeConnection();
    }
    this.#pace.takeMessage();
    return { ...load, used };
  }

  /** Nobody was asked, so it is no attempt; but a message that was never put off yet has to say why it waits. */
  #turnAway(message: LeasedMessage, { failure, until }: Cooling): undefined {
    if (message.attempts === 0) this.#events.onAttempt({ message, ...failure });
    else this.#events.onPostponed(message, (until - performance.now()) / 1_000);
  }

  /** Carries one message and gives back the session it went over, if there is one; never rejects. */
  async #carry(start: Start): Promise<UsedSession | undefined> {
    const { message, destination } = start;
    let { used } = start;
    try {
      const transaction = await prepare(message, this.#composing, this.#events);
      if (transaction === null) return used;
      for (;;) {
        used ??= await this.#open(message, destination);
        // Composing and connecting took their time: the lease may be gone, or the lane closed.
        if (used === undefined || !this.#mayGoOn(start)) return used;
        const isFresh = used.carried === 0;
        used.carried += 1;
        const result = await used.session.send(transaction, () => this.#events.mayStart(message));
        if (result.outcome === "withdrawn") this.#events.onDropped(message);
        else if (isFresh || !isEndOfReuse(result))
          this.#concluded({ message, result, mxHost: used.session.host });
        else {
          await this.#sessions.putAway(used);
          this.#pace.takeConnection();
          used = undefined;
          continue;
        }
        return used;
      }
    } catch (error) {
      this.#events.onFault(message, error);
      return used;
    }
  }

  #mayGoOn({ message, destination }: Load): boolean {
    const isPaused = this.#pace.pauseLeft > 0;
    const mayStart = this.#events.mayStart(message);
    if (!mayStart) this.#events.onDropped(message);
    else if (isPaused) this.add({ message, destination });
    return mayStart && !isPaused;
  }

  async #open(message: LeasedMessage, destination: Destination): Promise<UsedSession | undefined> {
    await this.#sessions.keepIdle(this.#pace.connections - this.#runners);
    const opened = await this.#sessions.open(destination);
    this.#pace.opened("session" in opened);
    if ("session" in opened) return opened;
    this.#concluded({ message, ...opened.failure });
    return undefined;
  }

  #concluded(attempt: Attempt): void {
    this.#pace.heed(attempt.result);
    this.#events.onAttempt(attempt);
    this.#returnThroughPause();
  }

  /** A pause that is too long to wait through here is waited through in the queue. */
  #returnThroughPause(): void {
    const pause = this.#pace.pauseLeft;
    if (pause <= LONGEST_HOLD_MS) return;
    for (const { message } of this.#takeAll()) this.#events.onPostponed(message, pause / 1_000);
  }

  get #length(): number {
    return this.#waiting[0].length + this.#waiting[1].length;
  }

  #takeAll(): Load[] {
    return [...this.#waiting[0].splice(0), ...this.#waiting[1].splice(0)];
  }
}

/**
 * A server may close a session between two messages at any time, in silence or with a 421 to the next MAIL. Nothing
 * had begun, so a new session is not a second attempt.
 */
function isEndOfReuse(result: TransactionResult): boolean {
  if (result.outcome === "accepted" || result.stage !== "mail") return false;
  return result.outcome === "broken" || result.code === 421;
}
