/**
 * When a lane may go on: its limits in time, and the pauses that receivers' answers bring about. Times are on the
 * monotonic clock, in milliseconds.
 */

import type { AttemptResult } from "#delivery/message/attempt.ts";
import { classifyReply } from "#mail/refusals/classify-reply.ts";
import type { SmtpStage } from "#smtp-client/outcome.ts";
import type { Lane } from "./lanes.ts";

/** Messages that one lane may hold in a worker at most, and before it has shown what it carries: sick ones must not fill it. */
export const LANE_SHARE = 1_000;
export const FIRST_SHARE = 250;
/** A slow lane holds what it carries in this time; one that gets faster twice as much. */
const SHARE_MS = 5_000;
/** What comes back to a slow lane is spread over this time at most, for it may be fast again by then. */
const LONGEST_RETURN_MS = 10 * 60_000;

/** A lane that was told to slow down without being told for how long. */
const UNNAMED_PAUSE_MS = 60_000;
/** A lane where one connection after the other failed, or so many conversations broke off without an answer between. */
const REST_MS = 2 * 60_000;
const BREAKS_BEFORE_REST = 20;
/** After a deferral about our reputation (mail-practice §11): one connection, one message a minute, for 90 minutes. */
const WARY_MS = 90 * 60_000;
const WARY_INTERVAL_MS = 60_000;

export class LanePace {
  readonly #lane: Lane;
  readonly #messages: Rate;
  readonly #waryMessages = new Rate(1, WARY_INTERVAL_MS);
  readonly #connections: Rate;
  readonly #carried = new Flow(SHARE_MS);
  #pausedUntil = 0;
  #waryUntil = 0;
  /** Connections that failed one after the other. */
  #failures = 0;
  /** Messages on whose way the conversation broke, one after the other. */
  #breaks = 0;
  #lastReturn = 0;

  constructor(lane: Lane) {
    this.#lane = lane;
    this.#messages = new Rate(lane.messages_per_second, 1_000);
    this.#connections = new Rate(lane.connections_per_minute, 60_000);
  }

  /** How long nothing may start; 0 when the lane is not paused. */
  get pauseLeft(): number {
    return Math.max(0, this.#pausedUntil - performance.now());
  }

  /** Connections that may be open at once. */
  get connections(): number {
    return this.#isWary ? 1 : (this.#lane.connections ?? Number.POSITIVE_INFINITY);
  }

  /** How many messages the lane may hold; at least one. */
  get share(): number {
    const shown = Math.max(FIRST_SHARE, 2 * this.#carried.count);
    return Math.ceil(Math.min(LANE_SHARE, shown, SHARE_MS / this.#rate.interval));
  }

  /** Does it go at its usual pace, with nothing to be remembered? */
  get isUsual(): boolean {
    return (
      this.untilMessage() === 0 &&
      this.untilConnection() === 0 &&
      !this.#isWary &&
      this.#failures + this.#breaks === 0
    );
  }

  /** How long until the next message may start. */
  untilMessage(): number {
    return Math.max(this.pauseLeft, this.#rate.wait());
  }

  takeMessage(): void {
    this.#rate.take();
  }

  /** How long until the next connection may be opened. */
  untilConnection(): number {
    return this.#connections.wait();
  }

  takeConnection(): void {
    this.#connections.take();
  }

  /** For a message beyond the share: after how long it may come back, each a place behind the one before. */
  returnIn(): number {
    const now = performance.now();
    const place = Math.max(this.#lastReturn, now + SHARE_MS);
    const gap = Math.max(this.#rate.interval, SHARE_MS / LANE_SHARE);
    this.#lastReturn = Math.min(place + gap, now + LONGEST_RETURN_MS);
    return this.#lastReturn - now;
  }

  /** Notes whether a connection came about. */
  opened(hasSucceeded: boolean): void {
    this.#failures = hasSucceeded ? 0 : this.#failures + 1;
    if (this.#failures < (this.#lane.failures_before_rest ?? Number.POSITIVE_INFINITY)) return;
    this.#failures = 0;
    this.#pause(REST_MS);
  }

  /** Notes an attempt that has ended; slows down after a refusal for now that concerns us and not the one message. */
  heed(result: AttemptResult): void {
    this.#carried.note();
    if (hasBrokenOff(result)) this.#break();
    else this.#breaks = 0;
    if (result.outcome !== "refused") return;
    const { scope, category, retry, waitSeconds } = classifyReply(result);
    const suspension = this.#lane.suspensions.find(({ words }) => result.text.includes(words));
    if (!retry || (scope !== "lane" && suspension === undefined)) return;
    const seconds = waitSeconds ?? suspension?.seconds;
    this.#pause(seconds === undefined ? UNNAMED_PAUSE_MS : seconds * 1_000);
    if (seconds === undefined && category === "Reputation") this.#waryUntil = performance.now() + WARY_MS;
  }

  /** A host that takes connections and hangs up on every message costs more than one that is away. */
  #break(): void {
    this.#breaks += 1;
    if (this.#breaks < BREAKS_BEFORE_REST) return;
    this.#breaks = 0;
    this.#pause(REST_MS);
  }

  get #isWary(): boolean {
    return this.#waryUntil > performance.now();
  }

  get #rate(): Rate {
    return this.#isWary ? this.#waryMessages : this.#messages;
  }

  #pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + ms);
  }
}

const midway: ReadonlySet<SmtpStage> = new Set(["mail", "rcpt", "data", "dot"]);

/** On a message's way: in silence, or with a 421, which closes the connection, too (RFC 5321 section 3.8). */
function hasBrokenOff(result: AttemptResult): boolean {
  if (result.outcome !== "broken" && !(result.outcome === "refused" && result.code === 421)) return false;
  return midway.has(result.stage);
}

/** How many there were lately: in the present span of time or in the one before it. */
class Flow {
  readonly #ms: number;
  #start = Number.NEGATIVE_INFINITY;
  #now = 0;
  #before = 0;

  constructor(ms: number) {
    this.#ms = ms;
  }

  get count(): number {
    this.#roll();
    return Math.max(this.#now, this.#before);
  }

  note(): void {
    this.#roll();
    this.#now += 1;
  }

  #roll(): void {
    const age = performance.now() - this.#start;
    if (age < this.#ms) return;
    this.#before = age < 2 * this.#ms ? this.#now : 0;
    this.#now = 0;
    this.#start = performance.now();
  }
}

/** So many within so long, evenly spread; what is late may catch up on a tenth of the time. */
class Rate {
  /** From one to the next; 0 without a limit. */
  readonly interval: number;
  readonly #slack: number;
  #next = Number.NEGATIVE_INFINITY;

  constructor(count: number | null, ms: number) {
    this.interval = count === null ? 0 : ms / count;
    this.#slack = ms / 10;
  }

  wait(): number {
    return Math.max(0, this.#next - performance.now());
  }

  take(): void {
    this.#next = Math.max(this.#next, performance.now() - this.#slack) + this.interval;
  }
}
