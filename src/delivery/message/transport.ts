/** What carries leased messages: SMTP lanes, an SMS gateway, or in capture mode the local inbox. */
import type { Ending } from "./attempt.ts";
import type { LeasedMessage, Priority, ReadyMessage } from "./message.ts";

/** What a transport asks the delivery worker, and tells it. */
export interface TransportEvents {
  /**
   * Whether the message may still be sent: its lease is alive, the worker is not stopping, its campaign is not paused.
   * Asked right before MAIL and before the final dot.
   */
  mayStart(message: LeasedMessage): boolean;
  /** Called once for each message that was handed to `send`. */
  onEnd(message: LeasedMessage, ending: Ending): void;
}

export interface Transport {
  send(message: ReadyMessage): void;
  /**
   * Recipient domains of which no more is leased now: enough waits here, or their lane is paused. Mail of priority 0 is
   * kept out only by mail of priority 0.
   */
  saturatedDomains(priority?: Priority): string[];
  /** Campaigns whose mail leaves from other machines. */
  foreignCampaigns?(): string[];
  /** Gives back what waits. Conversations under way go on as far as mayStart lets them. */
  close(): void;
}
