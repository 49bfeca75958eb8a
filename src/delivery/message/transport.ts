/** The interface of transports: SMTP, an SMS gateway, or in capture mode the local inbox. */

import type { Ending } from "./attempt.ts";
import type { WaitingLane } from "./lane-wait.ts";
import type { LeasedMessage, Priority, ReadyMessage } from "./message.ts";

/** The delivery worker, as a transport sees it. */
export interface TransportEvents {
  /**
   * Whether the message may be sent: its lease has time left, the worker is not stopping, its campaign is not paused. Called
   * right before MAIL and before the final dot.
   */
  mayStart(message: LeasedMessage): boolean;
  /** Called exactly once for each message given to `send`. */
  onEnd(message: LeasedMessage, ending: Ending): void;
}

export interface Transport {
  send(message: ReadyMessage): void;
  /**
   * Recipient domains whose messages are not leased now, because enough of them wait here or their lane is paused. For priority
   * 0 only waiting mail of priority 0 counts.
   */
  saturatedDomains(priority?: Priority): string[];
  /** Campaigns whose mail is sent by other machines. */
  foreignCampaigns?(): string[];
  /** The lanes that wait, and why. */
  waitingLanes?(): WaitingLane[];
  /** How many lanes and sites send nothing now, by lane name. */
  pausedLanes?(): Record<string, number>;
  /** Releases waiting messages. Those being sent go on, as long as mayStart allows it. */
  close(): void;
}
