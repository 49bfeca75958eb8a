/**
 * The check of leased messages right before they are sent, implemented by the wings above: whether the recipient may still get
 * mail, and the content of messages whose content is not stored.
 */
import type { EmailContent, LeasedMessage, SmsContent } from "./message.ts";

/**
 * Thrown when the template cannot be filled with the recipient's values. The message fails, and its log shows this error's
 * message.
 */
export class UnfitValues extends Error {}

export type Decision =
  /** The message is not sent; its log shows `detail`. */
  | { readonly kind: "end"; readonly status: "suppressed" | "cancelled"; readonly detail: string }
  /** Back to the queue for some seconds. */
  | { readonly kind: "requeue"; readonly seconds: number }
  /** An email with this content, which is made when it is composed. */
  | { readonly kind: "email"; readonly content: () => EmailContent }
  | { readonly kind: "sms"; readonly sms: () => SmsContent };

/** Resolves to decisions by message id. A message without a decision is sent with its stored content. */
export type PresendCheck = (messages: readonly LeasedMessage[]) => Promise<ReadonlyMap<string, Decision>>;
