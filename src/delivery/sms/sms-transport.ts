/**
 * Sends SMS to the gateway, within the gateway's window and rate, and within a share of the worker's held messages. SMS beyond
 * that stay in the queue.
 */
import type { SmsAttempt } from "#delivery/message/attempt.ts";
import type { LeasedMessage, ReadySms } from "#delivery/message/message.ts";
import type { TransportEvents } from "#delivery/message/transport.ts";
import { declined, type SmsGateway } from "./gateway.ts";

/** Held messages of a worker that may be SMS. */
const SHARE = 500;
/** The delay before an SMS beyond the share is leased again. */
const FULL_SECONDS = 5;
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** SMS campaigns that are remembered. */
const MOST_KNOWN = 1_000;

export class SmsTransport {
  readonly #gateway: SmsGateway;
  readonly #events: TransportEvents;
  readonly #waiting: ReadySms[] = [];
  /** Campaigns that are known to be SMS, the oldest first. */
  readonly #campaigns = new Set<string>();
  #underWay = 0;
  #pauseMs = 0;
  #pausedUntil = 0;
  /** When the next SMS may start, for gateways with a rate limit. */
  #nextAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(gateway: SmsGateway, events: TransportEvents) {
    this.#gateway = gateway;
    this.#events = events;
  }

  send(message: ReadySms): void {
    if (message.origin_id !== null) {
      const [oldest] = this.#campaigns.size >= MOST_KNOWN ? this.#campaigns : [];
      if (oldest !== undefined) this.#campaigns.delete(oldest);
      this.#campaigns.add(message.origin_id);
    }
    if (this.#isClosed) this.#release(message);
    else if (this.#waiting.length >= SHARE) {
      this.#events.onEnd(message, { kind: "requeue", seconds: FULL_SECONDS });
    } else {
      this.#waiting.push(message);
      this.#pump();
    }
  }

  /** SMS campaigns whose messages are not leased now. */
  get saturatedCampaigns(): string[] {
    const isSaturated =
      this.#gateway.isAway || this.#pausedUntil > performance.now() || this.#waiting.length >= SHARE / 2;
    return isSaturated ? [...this.#campaigns] : [];
  }

  /** Releases waiting messages. The gateway is closed when those under way have ended. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const message of this.#waiting.splice(0)) this.#release(message);
    if (this.#underWay === 0) this.#gateway.close();
  }

  #pump(): void {
    clearTimeout(this.#timer);
    while (this.#underWay < this.#gateway.window && this.#waiting.length > 0) {
      const ms = Math.max(this.#pausedUntil, this.#nextAt) - performance.now();
      if (ms > 0) {
        this.#timer = setTimeout(() => this.#pump(), ms).unref();
        return;
      }
      const message = this.#waiting.shift();
      if (message === undefined) return;
      if (!this.#events.mayStart(message)) this.#release(message);
      else {
        const { perSecond } = this.#gateway;
        if (perSecond !== null) this.#nextAt = performance.now() + 1_000 / perSecond;
        void this.#carry(message);
      }
    }
  }

  /** Never rejects. */
  async #carry(message: ReadySms): Promise<void> {
    this.#underWay += 1;
    try {
      await this.#submit(message);
    } catch (error) {
      this.#events.onEnd(message, { kind: "unsendable", error });
    }
    this.#underWay -= 1;
    if (this.#isClosed && this.#underWay === 0) this.#gateway.close();
    this.#pump();
  }

  async #submit(message: ReadySms): Promise<void> {
    const gateway = this.#gateway;
    const { workspace_id: workspaceId, message_id: id } = message;
    const sms = { workspaceId, id, ...message.sms() };
    const result = await gateway.submit(sms, () => this.#events.mayStart(message));
    if (result.outcome === "withdrawn") this.#release(message);
    else if (result.outcome === "unreachable") {
      const attempt = { result: declined(`not connected: ${result.reason}`, true), gateway };
      this.#events.onEnd(message, { kind: "backoff", attempt, seconds: result.seconds });
    } else {
      this.#throttle(result);
      this.#events.onEnd(message, { kind: "attempted", attempt: { result, gateway } });
    }
  }

  /** Each throttled answer doubles the pause; an accepted message ends it. */
  #throttle(result: SmsAttempt["result"]): void {
    if (result.outcome === "accepted") this.#pauseMs = 0;
    else if (result.isThrottled && performance.now() >= this.#pausedUntil) {
      this.#pauseMs = Math.min(Math.max(this.#pauseMs * 2, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
      this.#pausedUntil = performance.now() + this.#pauseMs;
    }
  }

  #release(message: LeasedMessage): void {
    this.#events.onEnd(message, { kind: "release" });
  }
}
