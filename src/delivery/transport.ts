/**
 * What carries leased messages: SMTP lanes, or in capture mode the local inbox. The dispatcher hands messages in and
 * hears of each exactly one thing.
 */
import type { LeasedMessage } from "./message.ts";
import type { Attempt } from "./queue/delivery-result.ts";
import type { Priority } from "./queue/queue-store.ts";

export interface TransportEvents {
  /** May this message still be sent: is its lease alive, is the worker not stopping? Asked right before MAIL and the final dot. */
  mayStart(message: LeasedMessage): boolean;
  /** An attempt has ended. */
  onAttempt(attempt: Attempt): void;
  /**
   * Nobody was asked, because of what somebody else has met; for some seconds nobody is. Silent of what was put off
   * before, and of what is past its time, which is to have its try (turnAway).
   */
  onTurnedAway(why: Attempt, seconds: number): void;
  /**
   * Back to the queue for some seconds, without an attempt: its lane is slowing down, or something of ours was away,
   * and then `cause` is what was thrown.
   */
  onPostponed(message: LeasedMessage, seconds: number, cause?: unknown): void;
  /** The same, without being said why: it is to leave from an address that is elsewhere, or not before tomorrow. */
  onHeldBack(message: LeasedMessage, seconds: number, sourceIp: string | null): void;
  /** Given back at once, without an attempt: it may not be sent from here any more. */
  onDropped(message: LeasedMessage): void;
  /** Our own fault: content that cannot be composed. The message fails. */
  onFault(message: LeasedMessage, error: unknown): void;
}

export interface Transport {
  send(message: LeasedMessage): void;
  /**
   * Recipient domains for which enough is waiting here already, or which are not spoken to now (leaseMessages). Mail of
   * priority 0 is kept out by its like only.
   */
  saturatedDomains(priority?: Priority): string[];
  /** Campaigns whose mail leaves from other machines. */
  foreignCampaigns?(): string[];
  /** Drops what waits; conversations under way go on as far as mayStart lets them, at a stop those whose dot is out. */
  close(): void;
}
