/**
 * The traffic of one lane in one worker: messages that wait, and the sessions that carry them at the lane's pace. A
 * sick lane fills only itself: it has its own connections and its share of the worker's memory, and what does not
 * fit goes back to the queue.
 *
 * Messages are carried by runners, of which there are as many as connections may be open. Where more wait than there
 * are connections a runner takes several at once: they are signed together, and each one's envelope travels right
 * behind the body before it. When the pace allows no next message the runners end, and one timer starts them again.
 */

import { type Composed, type ComposeOptions, prepare } from "#delivery/compose/compose.ts";
import type { SmtpAttempt } from "#delivery/message/attempt.ts";
import type { Priority, ReadyMessage } from "#delivery/message/message.ts";
import type { TransportEvents } from "#delivery/message/transport.ts";
import type { TransactionResult } from "#smtp-client/outcome.ts";
import { tlsNote } from "#smtp-client/tls.ts";
import type { Lane } from "./lanes.ts";
import type { SessionSettings } from "./openings.ts";
import { type Cooling, SessionPool, type UsedSession } from "./sessions.ts";
import { LanePace } from "./throttle.ts";
import { type Load, WaitingLine } from "./waiting-line.ts";

/** Through a pause no longer than this messages wait here; a lease has to be held all the while. */
const LONGEST_HOLD_MS = 45_000;
/** Messages that a runner takes at once: with twice as many hardly anything is saved, and urgent mail waits longer. */
const MOST_AT_ONCE = 8;

/** A load that may start, with the session for it; a new one may be opened where there is none. */
interface Start extends Load {
  readonly used: UsedSession | undefined;
}

/** A load on its way: `composed` becomes null when there is nothing to send, which has been said then. */
interface Carried extends Load {
  readonly composed: Promise<Composed | null>;
}

export class LaneTraffic {
  readonly #sessions: SessionPool;
  readonly #pace: LanePace;
  readonly #composing: ComposeOptions;
  readonly #events: TransportEvents;
  readonly #line = new WaitingLine();
  #runners = 0;
  /** Under way beyond the first of each runner. */
  #behind = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(lane: Lane, settings: SessionSettings, composing: ComposeOptions, events: TransportEvents) {
    this.#pace = new LanePace(lane);
    this.#sessions = new SessionPool(lane, settings);
    this.#composing = composing;
    this.#events = events;
  }

  /** Messages waiting or under way. */
  get load(): number {
    return this.#line.length + this.#runners + this.#behind;
  }

  /** Nothing is to be done, and nothing was learned that would be missed. */
  get isForgettable(): boolean {
    return this.load === 0 && this.#pace.isUsual && !this.#sessions.isCooling;
  }

  /** Should no more be leased for this lane? Half its share stays free for the batch that is on its way. */
  isSaturated(priority: Priority): boolean {
    const ahead = priority === 0 ? this.load - this.#line.bulkLength : this.load;
    return this.#pace.pauseLeft > 0 || ahead >= this.#pace.share / 2;
  }

  /** Takes a message on; when the lane is full the last in line goes back to the queue. */
  add(load: Load): void {
    this.#line.add(load);
    if (this.#line.length > this.#pace.share) {
      const last = this.#line.takeLast();
      if (last) this.#requeue(last.message, this.#pace.returnIn());
    }
    this.#returnThroughPause();
    this.#wake();
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const { message } of this.#line.takeAll()) this.#release(message);
    this.#sessions.close();
  }

  #wake(): void {
    while (this.#runners < this.#pace.connections) {
      const start = this.#next();
      if (start === undefined) return;
      void this.#run(start);
    }
  }

  /** One connection's worth of work, until no message may start. */
  async #run(first: Start): Promise<void> {
    this.#runners += 1;
    try {
      for (let start: Start | undefined = first; start !== undefined; ) {
        const behind = this.#takeBehind(start);
        this.#behind += behind.length;
        const used = await this.#carry([start, ...behind], start.used);
        this.#behind -= behind.length;
        if (used) await this.#sessions.putAway(used);
        start = this.#runners > this.#pace.connections ? undefined : this.#next(start.destination.site);
      }
    } finally {
      this.#runners -= 1;
    }
  }

  /** The next message that may start now, transactional mail first, then one for `site`; else sets the timer. */
  #next(site?: string): Start | undefined {
    while (this.#line.length > 0) {
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

  /** Who is next among those who have a session, or among everybody if another one may be opened. */
  #pick(site: string | undefined): Load | undefined {
    const mayConnect = this.#pace.untilConnection() === 0;
    return this.#line.take(({ destination }) => mayConnect || this.#sessions.has(destination.site), site);
  }

  /** Books what the message needs; undefined when it was given back instead. */
  #admit(load: Load): Start | undefined {
    const { message, destination } = load;
    if (!this.#events.mayStart(message)) {
      this.#release(message);
      return undefined;
    }
    const used = this.#sessions.take(destination.site);
    if (used === undefined) {
      const cooling = this.#sessions.coolingDown(destination.site);
      if (cooling) return this.#backOff(message, cooling);
      this.#pace.takeConnection();
    }
    this.#pace.takeMessage();
    return { ...load, used };
  }

  #backOff(message: ReadyMessage, { failure, until }: Cooling): undefined {
    const seconds = (until - performance.now()) / 1_000;
    this.#events.onEnd(message, { kind: "backoff", attempt: failure, seconds });
  }

  /** Those who go behind it on its connection: no more than one connection's share of what waits. */
  #takeBehind({ destination: { site }, used }: Start): Load[] {
    const share = Math.floor(this.#line.length / this.#pace.connections);
    const most = Math.min(share, MOST_AT_ONCE - 1, this.#sessions.roomIn(used) - 1);
    const behind: Load[] = [];
    while (behind.length < most && this.#pace.untilMessage() === 0) {
      const load = this.#line.take(({ destination }) => destination.site === site, site);
      if (load === undefined) break;
      if (this.#events.mayStart(load.message)) {
        this.#pace.takeMessage();
        behind.push(load);
      } else this.#release(load.message);
    }
    return behind;
  }

  /** Carries messages of one site, in order, and gives back the session they went over last, if there is one; never rejects. */
  async #carry(loads: readonly Load[], used: UsedSession | undefined): Promise<UsedSession | undefined> {
    let left: readonly Carried[] = loads.map((load) => ({
      ...load,
      composed: prepare(load.message, this.#composing, this.#events),
    }));
    for (let session = used; ; session = undefined) {
      const sent: Promise<Carried | null>[] = [];
      for (const [at, load] of left.entries()) {
        const composed = await load.composed;
        if (composed === null) continue;
        session ??= await this.#open(load);
        if (session === undefined) {
          await this.#putBack(left.slice(at + 1));
          return undefined;
        }
        sent.push(this.#send(load, composed, session));
      }
      const back = (await Promise.all(sent)).filter((load) => load !== null);
      left = back.filter((load) => this.#mayGoOn(load));
      if (session === undefined || left.length === 0) return session;
      await this.#sessions.putAway(session);
      this.#pace.takeConnection();
    }
  }

  /** Sends one message; gives it back when the session had ended before it began. */
  async #send(load: Carried, composed: Composed, used: UsedSession): Promise<Carried | null> {
    const { message, destination } = load;
    const { host, localAddress: sourceIp, tls } = used.session;
    let isFresh = false;
    const mayBegin = () => {
      if (!this.#mayGoOn(load)) return false;
      isFresh = used.carried === 0;
      used.carried += 1;
      return true;
    };
    try {
      const mayEnd = () => this.#events.mayStart(message);
      const result = await used.session.send(composed, { mayBegin, mayEnd });
      if (result.outcome === "withdrawn") this.#release(message);
      else if (result.outcome === "unbegun") return null;
      else if (!isFresh && isEndOfReuse(result)) return load;
      else {
        const demand = destination.hosts.find(({ name }) => name === host)?.tls;
        this.#attempted(message, {
          result: this.#sessions.judge(used, result),
          mxHost: host,
          sourceIp,
          tls: tlsNote(tls, demand, used.tlsFault),
        });
      }
    } catch (error) {
      this.#events.onEnd(message, { kind: "unsendable", error });
    }
    return null;
  }

  /** Waiting, composing and connecting took their time: the lease may be gone, or the lane closed. */
  #mayGoOn({ message, destination }: Load): boolean {
    const isPaused = this.#pace.pauseLeft > 0;
    const mayStart = this.#events.mayStart(message);
    if (!mayStart) this.#release(message);
    else if (isPaused) this.add({ message, destination });
    return mayStart && !isPaused;
  }

  /** Back in line: they go over other sessions, or learn with the rest that there are none. */
  async #putBack(loads: readonly Carried[]): Promise<void> {
    for (const { message, destination, composed } of loads) {
      if ((await composed) !== null) this.add({ message, destination });
    }
  }

  async #open({ message, destination }: Load): Promise<UsedSession | undefined> {
    try {
      await this.#sessions.keepIdle(this.#pace.connections - this.#runners);
      const opened = await this.#sessions.open(destination);
      // A host whose TLS is not good enough is there: what one domain demands must not rest the lane.
      this.#pace.opened("session" in opened || isTlsFault(opened.failure.result));
      if ("session" in opened) return opened;
      this.#attempted(message, opened.failure);
    } catch (error) {
      this.#events.onEnd(message, { kind: "unsendable", error });
    }
    return undefined;
  }

  #attempted(message: ReadyMessage, attempt: SmtpAttempt): void {
    this.#pace.heed(attempt.result);
    this.#events.onEnd(message, { kind: "attempted", attempt });
    this.#returnThroughPause();
  }

  #requeue(message: ReadyMessage, ms: number): void {
    this.#events.onEnd(message, { kind: "requeue", seconds: ms / 1_000 });
  }

  #release(message: ReadyMessage): void {
    this.#events.onEnd(message, { kind: "release" });
  }

  /** A pause that is too long to wait through here is waited through in the queue. */
  #returnThroughPause(): void {
    const pause = this.#pace.pauseLeft;
    if (pause <= LONGEST_HOLD_MS) return;
    for (const { message } of this.#line.takeAll()) this.#requeue(message, pause);
  }
}

function isTlsFault(result: SmtpAttempt["result"]): boolean {
  return result.outcome === "broken" && result.fault === "tls";
}

/**
 * A server may close a session between two messages at any time, in silence or with a 421 to the next MAIL. Nothing
 * had begun, so a new session is not a second attempt.
 */
function isEndOfReuse(result: TransactionResult): boolean {
  if (result.outcome === "accepted" || result.stage !== "mail") return false;
  return result.outcome === "broken" || result.code === 421;
}
