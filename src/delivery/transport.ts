/**
 * What carries leased messages: SMTP lanes, or in capture mode the local inbox. The dispatcher hands messages in and
 * hears of each exactly one thing.
 */
import type { Attempt } from "./conclusion.ts";
import type { LeasedMessage } from "./store.ts";

export interface TransportEvents {
  /** May this message still be sent: is its lease alive, is the worker not stopping? Asked right before it starts. */
  mayStart(message: LeasedMessage): boolean;
  /** An attempt has ended. */
  onAttempt(attempt: Attempt): void;
  /** Back to the queue for some seconds, without an attempt: its lane is slowing down. */
  onPostponed(message: LeasedMessage, seconds: number): void;
  /** No longer held here, and nothing is known of it: its lease lapses or is released. */
  onDropped(message: LeasedMessage): void;
  /** Our own fault: content that cannot be composed, a look-up that threw. */
  onFault(message: LeasedMessage, error: unknown): void;
}

export interface Transport {
  send(message: LeasedMessage): void;
  /** Recipient domains for which enough is waiting here already. */
  saturatedDomains(): string[];
  /** Drops what waits; conversations under way go on to their end. */
  close(): void;
}
