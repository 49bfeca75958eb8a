/**
 * What is found out about leased messages before they are sent, by nouns that the engine does not know: whether their
 * recipients may still be written to, and what they say where that is not stored with them.
 */

import type { LeasedMessage, MessageContent } from "./message.ts";
import type { SmsContent } from "./sms/gateway.ts";

/**
 * Thrown where content is made: what its author wrote cannot be filled with what is known of this recipient. The
 * message fails, and its sentence is for the log of the message.
 */
export class UnfitValues extends Error {}

export type Finding =
  /** It will not be sent; the sentence is for its log. */
  | { readonly kind: "over"; readonly status: "suppressed" | "cancelled"; readonly detail: string }
  /** Not now: back to the queue. */
  | { readonly kind: "wait"; readonly seconds: number }
  /** It is sent with this content, which is made when its turn comes. */
  | { readonly kind: "write"; readonly content: () => MessageContent }
  /** It is an SMS. */
  | { readonly kind: "text"; readonly sms: () => SmsContent };

/** By message id; a message of which nothing is said is sent as it is stored. */
export type Examine = (messages: readonly LeasedMessage[]) => Promise<ReadonlyMap<string, Finding>>;
