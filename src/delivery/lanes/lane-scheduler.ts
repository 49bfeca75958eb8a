/**
 * The scheduler of one lane in one worker: messages that wait, and the sessions that carry them at the pace of the throttle.
 * Each lane has its own connections and its own share of the worker's memory. Messages that do not fit go back to the queue,
 * so a lane that does not deliver does not block the others.
 *
 * Messages are carried by runners, one per connection that may be open. When more messages wait than there are connections,
 * a runner takes several at once: they are signed together, and the envelope of each follows the body before it (pipelining).
 * When the throttle allows no next message the runners end, and a timer starts them again.
 */

import { type Composed, type ComposeOptions, prepare } from "#delivery/compose/compose-leased-message.ts";
import type { SmtpAttempt } from "#delivery/message/attempt.ts";
import type { LaneWait } from "#delivery/message/lane-wait.ts";
import type { Priority, ReadyMessage } from "#delivery/message/message.ts";
import { replyOf } from "#delivery/message/reply-of-result.ts";
import type { TransportEvents } from "#delivery/message/transport.ts";
import { encodeConversation } from "#messages/message/conversation.ts";
import type { TransactionResult } from "#smtp-client/outcome.ts";
import { tlsNote } from "#smtp-client/tls.ts";
import { Transcript } from "#smtp-client/transcript.ts";
import type { Lane } from "./default-lanes.ts";
import { FairQueue, type RoutedMessage } from "./fair-queue.ts";
import type { SessionSettings } from "./session-opener.ts";
import { type Cooling, type PooledSession, SessionPool } from "./session-pool.ts";
import { LaneThrottle } from "./throttle.ts";

/** During a pause up to this long the messages wait here, where their leases must be extended; else in the queue. */
const LONGEST_HOLD_MS = 45_000;
/** Messages that a runner takes at once. Twice as many are hardly faster, and transactional mail would wait longer. */
const MOST_AT_ONCE = 8;

const MOST_SITES_SHOWN = 5;

/** A message that may start now, with an open session; without one a new session may be opened. */
interface StartableMessage extends RoutedMessage {
  readonly used: PooledSession | undefined;
}

/** A message that is being composed. `composed` resolves to null when it cannot be sent and has been ended. */
interface ComposingMessage extends RoutedMessage {
  readonly composed: Promise<Composed | null>;
}

export class LaneScheduler {
  readonly #lane: Lane;
  readonly #sessions: SessionPool;
  readonly #throttle: LaneThrottle;
  readonly #composing: ComposeOptions;
  readonly #events: TransportEvents;
  readonly #waiting = new FairQueue();
  #runners = 0;
  /** Messages under way in addition to the first of each runner. */
  #pipelinedCount = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(lane: Lane, settings: SessionSettings, composing: ComposeOptions, events: TransportEvents) {
    this.#lane = lane;
    this.#throttle = new LaneThrottle(lane);
    this.#sessions = new SessionPool(lane, settings);
    this.#composing = composing;
    this.#events = events;
  }

  /** Messages waiting or under way. */
  get load(): number {
    return this.#waiting.length + this.#runners + this.#pipelinedCount;
  }

  /** Whether a new scheduler would behave the same: no messages, no failures remembered. */
  get isForgettable(): boolean {
    return this.load === 0 && this.#throttle.isFresh && !this.#sessions.isCooling;
  }

  /** The name of the lane. */
  get lane(): string {
    return this.#lane.name;
  }

  /** Why messages wait or would wait; nothing when the lane is free. */
  get waits(): LaneWait[] {
    const messages = this.#waiting.length;
    const caused = this.#throttle.wait;
    if (caused !== null) return [{ ...caused, messages }];
    const now = performance.now();
    const sites = this.#sessions.coolingSites.slice(0, MOST_SITES_SHOWN).map(
      ({ failure: { mxHost, result }, until }): LaneWait => ({
        reason: "unreachable",
        messages: 0,
        seconds: (until - now) / 1_000,
        // A lane of one site is named by its hosts.
        detail: `${this.#lane.per_site || mxHost === null ? "" : `${mxHost}: `}${replyOf(result).text}`,
      }),
    );
    return messages === 0 ? sites : [...sites, { reason: "limits", messages, seconds: null, detail: null }];
  }

  /** How many parts of the lane send nothing now: all of it, or sites that refuse connections. */
  get pausedCount(): number {
    return this.#throttle.pauseLeft > 0 ? 1 : this.#sessions.coolingSites.length;
  }

  /** Whether no more messages of this lane should be leased. Half its share stays free for the batch being leased now. */
  isSaturated(priority: Priority): boolean {
    const ahead = priority === 0 ? this.load - this.#waiting.bulkLength : this.load;
    return this.#throttle.pauseLeft > 0 || ahead >= this.#throttle.share / 2;
  }

  /** Adds a message; if more wait than the share allows, the last one is requeued. */
  add(routed: RoutedMessage): void {
    this.#waiting.add(routed);
    if (this.#waiting.length > this.#throttle.share) {
      const last = this.#waiting.takeLast();
      if (last) this.#requeue(last.message, this.#throttle.returnIn());
    }
    this.#requeueForPause();
    this.#wake();
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const { message } of this.#waiting.takeAll()) this.#release(message);
    this.#sessions.close();
  }

  #wake(): void {
    while (this.#runners < this.#throttle.connections) {
      const start = this.#next();
      if (start === undefined) return;
      void this.#run(start);
    }
  }

  /** Sends messages over one connection at a time, until no message may start. */
  async #run(first: StartableMessage): Promise<void> {
    this.#runners += 1;
    try {
      for (let start: StartableMessage | undefined = first; start !== undefined; ) {
        const following = this.#takePipelined(start);
        this.#pipelinedCount += following.length;
        const used = await this.#sendAll([start, ...following], start.used);
        this.#pipelinedCount -= following.length;
        if (used) await this.#sessions.putAway(used);
        start = this.#runners > this.#throttle.connections ? undefined : this.#next(start.destination.site);
      }
    } finally {
      this.#runners -= 1;
    }
  }

  /** The next message that may start now: transactional mail first, then mail for `site`. Sets the timer if there is none. */
  #next(site?: string): StartableMessage | undefined {
    while (this.#waiting.length > 0) {
      const wait = this.#throttle.untilMessage();
      const routed = wait > 0 ? undefined : this.#pick(site);
      if (routed === undefined) {
        clearTimeout(this.#timer);
        const ms = Math.ceil(wait || this.#throttle.untilConnection());
        this.#timer = setTimeout(() => this.#wake(), ms).unref();
        return undefined;
      }
      const start = this.#admit(routed);
      if (start) return start;
    }
    return undefined;
  }

  /** The next message whose site has an idle session; any message, if a new session may be opened. */
  #pick(site: string | undefined): RoutedMessage | undefined {
    const mayConnect = this.#throttle.untilConnection() === 0;
    return this.#waiting.take(({ destination }) => mayConnect || this.#sessions.has(destination.site), site);
  }

  /** Counts the message and its connection against the limits; undefined when the message was ended instead. */
  #admit(routed: RoutedMessage): StartableMessage | undefined {
    const { message, destination } = routed;
    if (!this.#events.mayStart(message)) {
      this.#release(message);
      return undefined;
    }
    const used = this.#sessions.take(destination.site);
    if (used === undefined) {
      const cooling = this.#sessions.coolingDown(destination.site);
      if (cooling) return this.#backOff(message, cooling);
      this.#throttle.takeConnection();
    }
    this.#throttle.takeMessage();
    return { ...routed, used };
  }

  #backOff(message: ReadyMessage, { failure, until }: Cooling): undefined {
    const seconds = (until - performance.now()) / 1_000;
    this.#events.onEnd(message, { kind: "backoff", attempt: failure, seconds });
  }

  /** The messages that follow `start` on its connection: at most one connection's share of the waiting messages. */
  #takePipelined({ destination: { site }, used }: StartableMessage): RoutedMessage[] {
    const share = Math.floor(this.#waiting.length / this.#throttle.connections);
    const most = Math.min(share, MOST_AT_ONCE - 1, this.#sessions.roomIn(used) - 1);
    const following: RoutedMessage[] = [];
    while (following.length < most && this.#throttle.untilMessage() === 0) {
      const routed = this.#waiting.take(({ destination }) => destination.site === site, site);
      if (routed === undefined) break;
      if (this.#events.mayStart(routed.message)) {
        this.#throttle.takeMessage();
        following.push(routed);
      } else this.#release(routed.message);
    }
    return following;
  }

  /** Sends messages of one site, in order. Resolves to the last session used, if it is still open; never rejects. */
  async #sendAll(
    messages: readonly RoutedMessage[],
    used: PooledSession | undefined,
  ): Promise<PooledSession | undefined> {
    let left: readonly ComposingMessage[] = messages.map((routed) => ({
      ...routed,
      composed: prepare(routed.message, this.#composing, this.#events),
    }));
    for (let session = used; ; session = undefined) {
      const sent: Promise<ComposingMessage | null>[] = [];
      for (const [at, routed] of left.entries()) {
        const composed = await routed.composed;
        if (composed === null) continue;
        session ??= await this.#open(routed);
        if (session === undefined) {
          await this.#putBack(left.slice(at + 1));
          return undefined;
        }
        sent.push(this.#send(routed, composed, session));
      }
      const back = (await Promise.all(sent)).filter((routed) => routed !== null);
      left = back.filter((routed) => this.#mayGoOn(routed));
      if (session === undefined || left.length === 0) return session;
      await this.#sessions.putAway(session);
      this.#throttle.takeConnection();
    }
  }

  /** Sends one message. Resolves to it if the session ended before the message began, else to null. */
  async #send(
    routed: ComposingMessage,
    composed: Composed,
    used: PooledSession,
  ): Promise<ComposingMessage | null> {
    const { message, destination } = routed;
    const { host, localAddress: sourceIp, tls } = used.session;
    let isFresh = false;
    const begunAt = performance.now();
    const mayBegin = () => {
      if (!this.#mayGoOn(routed)) return false;
      isFresh = used.carried === 0;
      used.carried += 1;
      return true;
    };
    try {
      const mayEnd = () => this.#events.mayStart(message);
      const transcript = new Transcript();
      const result = await used.session.send(composed, { mayBegin, mayEnd }, transcript);
      if (result.outcome === "withdrawn") this.#release(message);
      else if (result.outcome === "unbegun") return null;
      else if (!isFresh && isEndOfReuse(result)) return routed;
      else {
        const demand = destination.hosts.find(({ name }) => name === host)?.tls;
        this.#attempted(message, {
          result: this.#sessions.checkRefusal(used, result),
          mxHost: host,
          sourceIp,
          tls: tlsNote(tls, demand, used.tlsFault),
          conversation: { opening: used.opening, lines: encodeConversation(transcript.lines) },
          ms: performance.now() - begunAt,
        });
      }
    } catch (error) {
      this.#events.onEnd(message, { kind: "unsendable", error });
    }
    return null;
  }

  /** Checks again after waiting, composing and connecting: the lease may have lapsed, or the lane may be paused. */
  #mayGoOn({ message, destination }: RoutedMessage): boolean {
    const isPaused = this.#throttle.pauseLeft > 0;
    const mayStart = this.#events.mayStart(message);
    if (!mayStart) this.#release(message);
    else if (isPaused) this.add({ message, destination });
    return mayStart && !isPaused;
  }

  /** Returns the messages to the queue of the lane, for other sessions. */
  async #putBack(messages: readonly ComposingMessage[]): Promise<void> {
    for (const { message, destination, composed } of messages) {
      if ((await composed) !== null) this.add({ message, destination });
    }
  }

  async #open({ message, destination }: RoutedMessage): Promise<PooledSession | undefined> {
    try {
      await this.#sessions.keepIdle(this.#throttle.connections - this.#runners);
      const begunAt = performance.now();
      const opened = await this.#sessions.open(destination);
      // A host that fails a TLS demand is reachable: the demands of one domain must not pause the lane.
      this.#throttle.connected("session" in opened || isTlsFault(opened.failure.result));
      if ("session" in opened) return opened;
      this.#attempted(message, { ...opened.failure, ms: performance.now() - begunAt });
    } catch (error) {
      this.#events.onEnd(message, { kind: "unsendable", error });
    }
    return undefined;
  }

  #attempted(message: ReadyMessage, attempt: SmtpAttempt): void {
    this.#throttle.attempted(attempt.result);
    this.#events.onEnd(message, { kind: "attempted", attempt: { ...attempt, lane: this.#lane.name } });
    this.#requeueForPause();
  }

  #requeue(message: ReadyMessage, ms: number): void {
    this.#events.onEnd(message, { kind: "requeue", seconds: ms / 1_000 });
  }

  #release(message: ReadyMessage): void {
    this.#events.onEnd(message, { kind: "release" });
  }

  /** Requeues the waiting messages if the pause is longer than LONGEST_HOLD_MS. */
  #requeueForPause(): void {
    const pause = this.#throttle.pauseLeft;
    if (pause <= LONGEST_HOLD_MS) return;
    for (const { message } of this.#waiting.takeAll()) this.#requeue(message, pause);
  }
}

function isTlsFault(result: SmtpAttempt["result"]): boolean {
  return result.outcome === "broken" && result.fault === "tls";
}

/**
 * Whether a reused session was ended by the server between two messages, silently or with a 421 to MAIL. The message had not
 * begun, so sending it over a new session is not a second attempt.
 */
function isEndOfReuse(result: TransactionResult): boolean {
  if (result.outcome === "accepted" || result.stage !== "mail") return false;
  return result.outcome === "broken" || result.code === 421;
}
