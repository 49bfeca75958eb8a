import type { SMTPServerEnvelope } from "smtp-server";
import type { MessageSizeLimit, ReceivedMessage } from "./message-data.ts";

/** One mail on the inbound port, from its first accepted recipient to its reply. */
export interface MailTransaction {
  /** As in Conversation (listener/conversation-interface.ts), which documents them. */
  message(received: ReceivedMessage, mailFrom: SMTPServerEnvelope["mailFrom"]): Promise<string>;
  sizeLimit(): MessageSizeLimit;
  onOctets(octets: number): Promise<void>;
}

/** Recipients of one mail. */
export const MOST_ENVELOPE_RECIPIENTS = 10;

/** The size that MAIL declares (RFC 1870); 0 if it declares none. */
export function declaredSize(mailFrom: SMTPServerEnvelope["mailFrom"]): number {
  const parameters = mailFrom === false || mailFrom.args === false ? {} : mailFrom.args;
  return Number(Reflect.get(parameters, "SIZE") ?? 0);
}
