/**
 * The pace of a lane: its rate limits, and the pauses that replies and failures cause. Times are in milliseconds of the
 * monotonic clock.
 */

import type { AttemptResult } from "#delivery/message/attempt.ts";
import type { LaneWait } from "#delivery/message/lane-wait.ts";
import { replyOf } from "#delivery/message/reply-of-result.ts";
import { classifyReply } from "#mail/refusals/classify-reply.ts";
import type { SmtpStage } from "#smtp-client/outcome.ts";
import type { Lane } from "./default-lanes.ts";

/** Messages that one lane may hold in a worker: at most, and at the start. A lane that does not deliver must not fill it. */
export const LANE_SHARE = 1_000;
export const FIRST_SHARE = 250;
/** A lane may hold as many messages as its rate limit allows in this time, and twice as many as it attempted in it. */
const SHARE_MS = 5_000;
/**
 * The longest time after which a message beyond the share is leased again: the lane may have become faster in the
 * meantime.
 */
const LONGEST_RETURN_MS = 10 * 60_000;

/** The pause after a reply that asks us to slow down and names no time. */
const UNNAMED_PAUSE_MS = 60_000;
/** The pause after too many failed connections, or after this many broken conversations in a row. */
const REST_MS = 2 * 60_000;
const BREAKS_BEFORE_REST = 20;
/** After a deferral for reputation: one connection and one message a minute, for 90 minutes. */
const REPUTATION_MS = 90 * 60_000;
const REPUTATION_INTERVAL_MS = 60_000;

export class LaneThrottle {
  readonly #lane: Lane;
  readonly #messages: Rate;
  readonly #reputationRate = new Rate(1, REPUTATION_INTERVAL_MS);
  readonly #connections: Rate;
  readonly #attempted = new RecentCount(SHARE_MS);
  #pausedUntil = 0;
  /** Why the lane was paused last. */
  #cause: Pick<LaneWait, "reason" | "detail"> = { reason: "asked_to_wait", detail: null };
  #reputationUntil = 0;
  /** The reply about reputation. Later pauses may have another cause. */
  #reputationReply: string | null = null;
  /** Failed connections in a row. */
  #failures = 0;
  /** Broken conversations in a row. */
  #breaks = 0;
  #lastReturn = 0;

  constructor(lane: Lane) {
    this.#lane = lane;
    this.#messages = new Rate(lane.messages_per_second, 1_000);
    this.#connections = new Rate(lane.connections_per_minute, 60_000);
  }

  /** Milliseconds until the end of the pause; 0 when the lane is not paused. */
  get pauseLeft(): number {
    return Math.max(0, this.#pausedUntil - performance.now());
  }

  /** The pause or the limit that a reply or a failure has caused; null when there is none. */
  get wait(): Omit<LaneWait, "messages"> | null {
    if (this.pauseLeft > 0) return { ...this.#cause, seconds: this.pauseLeft / 1_000 };
    if (!this.#isReputationLimited) return null;
    const seconds = (this.#reputationUntil - performance.now()) / 1_000;
    return { reason: "reputation", detail: this.#reputationReply, seconds };
  }

  /** Connections that may be open at the same time. */
  get connections(): number {
    return this.#isReputationLimited ? 1 : (this.#lane.connections ?? Number.POSITIVE_INFINITY);
  }

  /** How many messages may wait in the lane; at least one. */
  get share(): number {
    const recent = Math.max(FIRST_SHARE, 2 * this.#attempted.count);
    return Math.ceil(Math.min(LANE_SHARE, recent, SHARE_MS / this.#rate.interval));
  }

  /** Whether nothing limits the lane now and no failure is counted: a new throttle would behave the same. */
  get isFresh(): boolean {
    return (
      this.untilMessage() === 0 &&
      this.untilConnection() === 0 &&
      !this.#isReputationLimited &&
      this.#failures + this.#breaks === 0
    );
  }

  /** Milliseconds until the next message may start. */
  untilMessage(): number {
    return Math.max(this.pauseLeft, this.#rate.wait());
  }

  takeMessage(): void {
    this.#rate.take();
  }

  /** Milliseconds until the next connection may be opened. */
  untilConnection(): number {
    return this.#connections.wait();
  }

  takeConnection(): void {
    this.#connections.take();
  }

  /** For messages beyond the share: milliseconds until one may be leased again, each later than the one before. */
  returnIn(): number {
    const now = performance.now();
    const earliest = Math.max(this.#lastReturn, now + SHARE_MS);
    const gap = Math.max(this.#rate.interval, SHARE_MS / LANE_SHARE);
    this.#lastReturn = Math.min(earliest + gap, now + LONGEST_RETURN_MS);
    return this.#lastReturn - now;
  }

  /** To be called after each attempt to open a connection. */
  connected(hasSucceeded: boolean): void {
    this.#failures = hasSucceeded ? 0 : this.#failures + 1;
    if (this.#failures < (this.#lane.failures_before_rest ?? Number.POSITIVE_INFINITY)) return;
    this.#failures = 0;
    this.#pause(REST_MS, { reason: "connections_failed", detail: null });
  }

  /** To be called after each attempt; pauses the lane after a temporary refusal that concerns the sender and not the one message. */
  attempted(result: AttemptResult): void {
    this.#attempted.add();
    if (isBrokenOff(result)) this.#countBreak(replyOf(result).text);
    else this.#breaks = 0;
    if (result.outcome !== "refused") return;
    const { scope, category, retry, waitSeconds } = classifyReply(result);
    const suspension = this.#lane.suspensions.find(({ words }) => result.text.includes(words));
    if (!retry || (scope !== "lane" && suspension === undefined)) return;
    const seconds = waitSeconds ?? suspension?.seconds;
    const detail = replyOf(result).text;
    this.#pause(seconds === undefined ? UNNAMED_PAUSE_MS : seconds * 1_000, {
      reason: "asked_to_wait",
      detail,
    });
    if (seconds !== undefined || category !== "Reputation") return;
    this.#reputationUntil = performance.now() + REPUTATION_MS;
    this.#reputationReply = detail;
  }

  /** A host that accepts connections and drops every message costs more than an unreachable one. */
  #countBreak(detail: string): void {
    this.#breaks += 1;
    if (this.#breaks < BREAKS_BEFORE_REST) return;
    this.#breaks = 0;
    this.#pause(REST_MS, { reason: "conversations_broken", detail });
  }

  get #isReputationLimited(): boolean {
    return this.#reputationUntil > performance.now();
  }

  get #rate(): Rate {
    return this.#isReputationLimited ? this.#reputationRate : this.#messages;
  }

  #pause(ms: number, cause: Pick<LaneWait, "reason" | "detail">): void {
    const until = performance.now() + ms;
    if (until < this.#pausedUntil) return;
    this.#pausedUntil = until;
    this.#cause = cause;
  }
}

const MESSAGE_STAGES: ReadonlySet<SmtpStage> = new Set(["mail", "rcpt", "data", "dot"]);

/** Whether the server ended the conversation within a message: silently, or with 421 (RFC 5321 section 3.8). */
function isBrokenOff(result: AttemptResult): boolean {
  if (result.outcome !== "broken" && !(result.outcome === "refused" && result.code === 421)) return false;
  return MESSAGE_STAGES.has(result.stage);
}

/** Counts events in windows of a fixed length; the count is that of the current or the previous window, whichever is higher. */
class RecentCount {
  readonly #ms: number;
  #start = Number.NEGATIVE_INFINITY;
  #current = 0;
  #previous = 0;

  constructor(ms: number) {
    this.#ms = ms;
  }

  get count(): number {
    this.#roll();
    return Math.max(this.#current, this.#previous);
  }

  add(): void {
    this.#roll();
    this.#current += 1;
  }

  #roll(): void {
    const age = performance.now() - this.#start;
    if (age < this.#ms) return;
    this.#previous = age < 2 * this.#ms ? this.#current : 0;
    this.#current = 0;
    this.#start = performance.now();
  }
}

/** A rate limit that spaces events evenly; late events may catch up by a tenth of the period. */
class Rate {
  /** Milliseconds between two events; 0 without a limit. */
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
