import type { HeaderField } from "#mail/message/header.ts";
import type { Attachment } from "#mail/message/mime.ts";
import type { MailText } from "#mail/message/template-text.ts";
import type { StoredAttachment } from "#messages/message/attachment.ts";
import type { MessageOptions } from "#messages/store.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** A message with everything an attempt needs, held by one worker until its lease lapses. */
export interface LeasedMessage {
  readonly workspace_id: WorkspaceId;
  readonly message_id: string;
  readonly lease_number: number;
  readonly priority: Priority;
  readonly attempts: number;
  /** Size of the content (enqueueSql). */
  readonly bytes: number;
  readonly expires_at: Date;
  /** How long it has left until then by the database's clock, at the moment of the lease; of a due message that is late, below 0. */
  readonly lives_ms: number;
  readonly created_at: Date;
  /** By the database's clock. Null: an earlier version made the first attempt. */
  readonly first_attempt_at: Date | null;
  readonly source: string;
  readonly origin_id: string | null;
  readonly from_email: string;
  readonly from_name: string | null;
  readonly to_name: string | null;
  readonly localpart: string;
  readonly domain: string;
  readonly subject: string;
  /** Larger than LARGE_BYTES: the four fields of its content are null, and are loaded when it is composed (compose.ts). */
  readonly is_large: boolean;
  readonly html: string | null;
  readonly text: string | null;
  readonly attachments: StoredAttachment[] | null;
  readonly particulars: MessageOptions | null;
  /** The complete message of a client of the submission port, in place of the three above. */
  readonly raw: Buffer | null;
  /** Whether its content is stored with it; otherwise the pre-send check (presend-check.ts) gives it. */
  readonly has_content: boolean;
  /** Leased before, or long after it was due: the suppression check made at acceptance no longer counts. */
  readonly is_stale: boolean;
  /** Which version of its workspace's sending IPs and routing rules holds; null: it has none. */
  readonly routing_version: number | null;
  /** The address of ours it should leave from, if one was settled on. */
  readonly source_ip: string | null;
}

/** A mail that the pre-send check has passed. */
export interface ReadyMessage extends LeasedMessage {
  /** Makes the content when it is composed; null: the content is stored with the message. */
  readonly content: (() => MessageContent) | null;
}

/** An SMS that the pre-send check has passed. */
export interface ReadySms extends LeasedMessage {
  readonly sms: () => SmsContent;
}

/** What a message says. At least one of the two bodies is given. */
export interface MessageContent {
  readonly fromName: string | null;
  readonly toName: string | null;
  readonly subject: string;
  readonly html: MailText | null;
  readonly text: MailText | null;
  readonly attachments: readonly Attachment[];
  /** Beside those that every message has. */
  readonly headers: readonly HeaderField[];
  /** Host of the envelope sender, where it is not that of From's domain. */
  readonly returnPathHost: string | null;
}

/** The text of a short message and the number it goes to. */
export interface SmsContent {
  /** E.164, with its plus sign. */
  readonly to: string;
  readonly text: string;
}

/** Transactional and platform mail goes before campaigns. */
export type Priority = 0 | 1;
