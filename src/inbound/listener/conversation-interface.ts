import type { SMTPServerAddress, SMTPServerEnvelope } from "smtp-server";
import type { MessageSizeLimit, ReceivedMessage } from "./message-data.ts";

/**
 * What a port does with the commands of one client, over any number of messages. Each function refuses a command by
 * throwing SmtpReply.
 */
export interface Conversation {
  /** Checks the password of AUTH. Present only on ports that require a login, which they offer after TLS. */
  readonly login?: (password: string) => Promise<void>;
  /** @param helo the name that the client gave in EHLO or HELO */
  readonly mail: (from: SMTPServerAddress, envelope: SMTPServerEnvelope, helo: string) => Promise<void>;
  readonly recipient: (to: SMTPServerAddress, envelope: SMTPServerEnvelope) => Promise<void>;
  /** Resolves to the text of the 250 reply, enhanced code included. Has to bound its own time. */
  readonly message: (received: ReceivedMessage, envelope: SMTPServerEnvelope) => Promise<string>;
  /** The size limit for the recipients named so far. Default: the port's. */
  readonly sizeLimit?: () => MessageSizeLimit;
  /** Called after each message, refused ones included, with the octets that the client sent. */
  readonly onOctets?: (octets: number) => Promise<void>;
}
