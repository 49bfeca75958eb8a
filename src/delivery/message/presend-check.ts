/**
 * The check of leased messages right before they are sent, made by the wings above the engine: may the recipient still
 * get mail, and what does the message say where its content is not stored with it?
 */
import type { LeasedMessage, MessageContent, SmsContent } from "./message.ts";

/**
 * Thrown where content is made: the template cannot be filled with the recipient's values. The message fails, and its
 * log shows this sentence.
 */
export class UnfitValues extends Error {}

export type Decision =
  /** It is not sent; `detail` is a sentence for its log. */
  | { readonly kind: "end"; readonly status: "suppressed" | "cancelled"; readonly detail: string }
  /** Back to the queue for some seconds. */
  | { readonly kind: "requeue"; readonly seconds: number }
  /** It is a mail with this content, which is made when it is composed. */
  | { readonly kind: "email"; readonly content: () => MessageContent }
  | { readonly kind: "sms"; readonly sms: () => SmsContent };

/** Decisions by message id. A message without one is sent as it is stored. */
export type PresendCheck = (messages: readonly LeasedMessage[]) => Promise<ReadonlyMap<string, Decision>>;
