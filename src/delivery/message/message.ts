/** A message in the three stages of delivery: leased, ready to be sent, and its content. */

import type { Attachment } from "#mail/message/compose-message.ts";
import type { HeaderField } from "#mail/message/encode-header.ts";
import type { MailText } from "#mail/message/shared-text-pieces.ts";
import type { StoredAttachment } from "#messages/message/attachment.ts";
import type { MessageOptions } from "#messages/store.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** A leased message, held by one worker until its lease lapses. */
export interface LeasedMessage {
  readonly workspace_id: WorkspaceId;
  readonly message_id: string;
  readonly lease_number: number;
  readonly priority: Priority;
  readonly attempts: number;
  /** Size of the content (enqueueSql). */
  readonly bytes: number;
  readonly expires_at: Date;
  /** Milliseconds from the lease until `expires_at`, by the database's clock; negative when it has expired. */
  readonly lives_ms: number;
  readonly created_at: Date;
  /** By the database's clock. Null before the first attempt, which is only of a message that is not leased. */
  readonly first_attempt_at: Date | null;
  readonly source: string;
  readonly origin_id: string | null;
  readonly from_email: string;
  readonly from_name: string | null;
  readonly to_name: string | null;
  readonly localpart: string;
  readonly domain: string;
  readonly subject: string;
  /** Larger than LARGE_BYTES: html, text, attachments and raw are null, and loaded when it is composed (compose-leased-message.ts). */
  readonly is_large: boolean;
  readonly html: string | null;
  readonly text: string | null;
  readonly attachments: StoredAttachment[] | null;
  readonly particulars: MessageOptions | null;
  /** The complete message from the submission port, in place of html, text and attachments. */
  readonly raw: Buffer | null;
  /** Whether its content is stored; if not, the pre-send check (presend-decision.ts) makes it. */
  readonly has_content: boolean;
  /** Leased before, or leased late: the suppression check made at acceptance is too old. */
  readonly is_stale: boolean;
  /** The version of its workspace's sending IPs and routing rules; null without any. */
  readonly routing_version: number | null;
  /** The source address chosen for the next attempt. */
  readonly source_ip: string | null;
}

/** A mail that the pre-send check has passed. */
export interface ReadyMessage extends LeasedMessage {
  /** Makes the content when it is composed; null when the content is stored. */
  readonly content: (() => EmailContent) | null;
}

/** An SMS that the pre-send check has passed. */
export interface ReadySms extends LeasedMessage {
  readonly sms: () => SmsContent;
}

/** The content of an email. At least one of the two bodies is given. */
export interface EmailContent {
  readonly fromName: string | null;
  readonly toName: string | null;
  readonly subject: string;
  readonly html: MailText | null;
  readonly text: MailText | null;
  readonly attachments: readonly Attachment[];
  /** In addition to the fields that every message has. */
  readonly headers: readonly HeaderField[];
  /** The host of the envelope sender; null for that of the From domain. */
  readonly returnPathHost: string | null;
}

/** The text of a short message and the number it goes to. */
export interface SmsContent {
  /** E.164, with its plus sign. */
  readonly to: string;
  readonly text: string;
}

/** 0 is transactional and platform mail, which goes before 1, bulk mail. */
export type Priority = 0 | 1;
