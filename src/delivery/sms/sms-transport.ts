/**
 * Short messages on their way: no more at once than the gateway takes, no faster than it wants, and no more in memory
 * than leaves room for mail. What the gateway has no use for now stays in the queue.
 */
import type { LeasedMessage } from "#delivery/message.ts";
import type { TransportEvents } from "#delivery/transport.ts";
import { declined, type SmsGateway } from "./gateway.ts";
import type { SmsAttempt } from "./sms-result.ts";

/** Of the messages that a worker holds. */
const SHARE = 500;
/** When messages come back that the share has no room for. */
const FULL_SECONDS = 5;
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** Campaigns that are known to be SMS. */
const MOST_KNOWN = 1_000;

export interface SmsEvents extends Omit<TransportEvents, "onAttempt" | "onTurnedAway"> {
  /** An attempt has ended. */
  onSmsAttempt(message: LeasedMessage, result: SmsAttempt, gateway: SmsGateway): void;
  /** Nobody was asked, for the reason that `why` gives; for some seconds nobody is. Past its time as in onTurnedAway. */
  onSmsTurnedAway(message: LeasedMessage, why: SmsAttempt, gateway: SmsGateway, seconds: number): void;
}

export interface SmsTransport {
  send(message: LeasedMessage): void;
  /** Campaigns of which nothing should be leased now. */
  saturatedCampaigns(): string[];
  /** Drops what waits; what is under way ends, and then the gateway is closed. */
  close(): void;
}

export function createSmsTransport(gateway: SmsGateway, events: SmsEvents): SmsTransport {
  const waiting: LeasedMessage[] = [];
  const known = new Set<string>();
  let underWay = 0;
  let pause = 0;
  let pausedUntil = 0;
  /** When the next one may begin, for gateways that count by the second. */
  let nextAt = 0;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const wait = () => Math.max(pausedUntil, nextAt) - performance.now();

  const pump = () => {
    clearTimeout(timer);
    while (underWay < gateway.window && waiting.length > 0) {
      const ms = wait();
      if (ms > 0) {
        timer = setTimeout(pump, ms).unref();
        return;
      }
      const message = waiting.shift();
      if (message === undefined) return;
      if (!events.mayStart(message)) events.onDropped(message);
      else {
        if (gateway.perSecond !== null) nextAt = performance.now() + 1_000 / gateway.perSecond;
        void carry(message);
      }
    }
  };

  /** Never rejects. */
  const carry = async (message: LeasedMessage) => {
    underWay += 1;
    try {
      const { workspace_id: workspaceId, message_id: id } = message;
      const content = message.sms?.();
      if (content === undefined) throw new Error("a message that is no SMS was given to the SMS gateway");
      const sms = { workspaceId, id, ...content };
      const result = await gateway.submit(sms, () => events.mayStart(message));
      if (result.outcome === "withdrawn") events.onDropped(message);
      else if (result.outcome === "away") {
        const why = declined(`not connected: ${result.reason}`, true);
        events.onSmsTurnedAway(message, why, gateway, result.seconds);
      } else {
        heed(result);
        events.onSmsAttempt(message, result, gateway);
      }
    } catch (error) {
      events.onFault(message, error);
    }
    underWay -= 1;
    if (isClosed && underWay === 0) gateway.close();
    pump();
  };

  const heed = (result: SmsAttempt) => {
    if (result.outcome === "taken") pause = 0;
    else if (result.isThrottled && performance.now() >= pausedUntil) {
      pause = Math.min(Math.max(pause * 2, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
      pausedUntil = performance.now() + pause;
    }
  };

  return {
    send(message) {
      if (message.origin_id !== null) {
        const [oldest] = known.size >= MOST_KNOWN ? known : [];
        if (oldest !== undefined) known.delete(oldest);
        known.add(message.origin_id);
      }
      if (isClosed) events.onDropped(message);
      else if (waiting.length >= SHARE) events.onPostponed(message, FULL_SECONDS);
      else {
        waiting.push(message);
        pump();
      }
    },
    saturatedCampaigns: () =>
      gateway.isAway || pausedUntil > performance.now() || waiting.length >= SHARE / 2 ? [...known] : [],
    close() {
      isClosed = true;
      clearTimeout(timer);
      for (const message of waiting.splice(0)) events.onDropped(message);
      if (underWay === 0) gateway.close();
    },
  };
}
