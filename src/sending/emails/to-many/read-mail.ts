/** Reads a mail of POST /emails into drafts: one message for each recipient, with the content they have in common. */
import type { Static } from "typebox";
import type { HeaderField } from "#mail/message/encode-header.ts";
import type { EmailDetails } from "#messages/message/email-details.ts";
import { idOfRecipient, newEmailId } from "#messages/message/email-id.ts";
import type { MessageOptions, NewMessage } from "#messages/store.ts";
import { readMoment } from "#platform/dates/read-moment.ts";
import { type FieldFault, invalid } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { newId } from "#platform/ids.ts";
import { DAY_MS } from "#platform/time-units.ts";
import type { Draft } from "#sending/acceptance/accept-messages-statement.ts";
import { headerFieldFault, MOST_FIELDS } from "#sending/content/read-custom-headers.ts";
import { readAttachments } from "#sending/emails/read-attachments.ts";
import {
  type PlatformSender,
  readBareAddress,
  readHeaderText,
  readMailSubject,
  readSender,
  saysNothing,
} from "#sending/emails/read-mail-fields.ts";
import { type AttachedPictures, withPictures } from "./mail-attachment.ts";
import type { WrittenMail } from "./mail-from-template.ts";
import { MOST_DAYS_AHEAD, MOST_METADATA, MOST_REPLY_TO, type NewMail } from "./new-mail.ts";
import { type AddressedRecipient, readMailboxes, readRecipients } from "./read-mailboxes.ts";

export interface ReadMail {
  /** The id of the mail. */
  readonly id: string;
  readonly scheduledAt: Date | null;
  readonly recipients: readonly AddressedRecipient[];
  /** In the order of the recipients. */
  readonly drafts: readonly Draft[];
}

export interface MailReading {
  readonly caller: Caller;
  readonly requestId: string;
  readonly platform: PlatformSender | null;
  readonly now: Date;
  /** The pictures that mails of the request attach. */
  readonly pictures: AttachedPictures;
}

/** @throws ApiError VALIDATION_ERROR */
export function readMail(
  body: WrittenMail,
  { caller, requestId, platform, now, pictures }: MailReading,
): ReadMail {
  const { recipients, to, cc } = readRecipients(body);
  const replyTo = readMailboxes(body.reply_to, "reply_to", MOST_REPLY_TO);
  const subject = readMailSubject(body.subject);
  const { html, text } = readBodies(body);
  const { fromEmail, sender } = readSender(body.from_email, platform, caller);
  const bounces = body.bounce_email == null ? null : readBareAddress(body.bounce_email, "bounce_email");
  const scheduledAt = body.scheduled_at == null ? null : readScheduledAt(body.scheduled_at, now);
  const id = newEmailId();
  const particulars: MessageOptions = {
    headers: readHeaders(body.headers ?? {}),
    return_path_host: null,
    sending_ip: null,
    routing_rule_id: null,
    ...(html !== null && caller.tracksTransactional && { is_tracked: true }),
    addressees: { to, cc, reply_to: replyTo, message_id: id },
  };
  const details = {
    ...labelsOf(body),
    ...(scheduledAt && { scheduled_at: scheduledAt.toISOString() }),
  };
  const { workspaceId, actor } = caller;
  const common = {
    workspaceId,
    source: "api",
    originId: actor.id,
    originName: actor.name,
    fromEmail,
    fromName: body.from_name == null ? null : readHeaderText(body.from_name, "from_name"),
    subject,
    html,
    text,
    attachments: readAttachments(withPictures(body.attachments ?? [], pictures)),
    particulars,
    ...(recipients.length > 1 && { submission: { id: newId(), raw: null } }),
    bounceEmail: bounces?.address ?? null,
    requestId,
    createdAt: now,
  } as const satisfies Partial<NewMessage>;
  return {
    id,
    scheduledAt,
    recipients,
    drafts: recipients.map(({ type, name, local, domain }, place) => ({
      sender,
      bouncesTo: bounces && { workspaceId, ...bounces },
      priority: 0,
      retryHours: caller.retryHours,
      ...(scheduledAt && { dueAt: scheduledAt }),
      message: {
        ...common,
        id: idOfRecipient(id, place),
        toName: name,
        localpart: local,
        domain,
        emailDetails: { recipient_type: type, ...details },
      },
    })),
  };
}

function readBodies({ html = null, text = null }: Static<typeof NewMail>) {
  if (html === null && text === null) {
    throw invalid({ field: "html", message: "html or text is required" });
  }
  if (html !== null && saysNothing(html, true) && (text === null || saysNothing(text, false))) {
    throw invalid({ field: "html", message: "html must not be blank" });
  }
  if (html === null && text !== null && saysNothing(text, false)) {
    throw invalid({ field: "text", message: "text must not be blank" });
  }
  return { html, text };
}

/** Characters of all given header fields: receivers refuse messages with very long headers. */
const MOST_IN_HEADERS = 8_000;

function readHeaders(given: Readonly<Record<string, string>>): HeaderField[] {
  const entries = Object.entries(given);
  if (entries.length > MOST_FIELDS) {
    throw invalid({ field: "headers", message: `headers may hold at most ${MOST_FIELDS} fields` });
  }
  const seen = new Set<string>();
  const faults = entries.flatMap(([name, value]): FieldFault[] => {
    const field = `headers.${name.slice(0, 100)}`;
    const known = name.toLowerCase();
    const fault = seen.has(known) ? "is given twice" : headerFieldFault(name, value);
    seen.add(known);
    return fault === null ? [] : [{ field, message: `${field}: ${fault}` }];
  });
  const [first, ...rest] = faults;
  if (first !== undefined) throw invalid(first, ...rest);
  const characters = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (characters > MOST_IN_HEADERS) {
    const message = `headers must have at most ${MOST_IN_HEADERS.toLocaleString("en")} characters in all`;
    throw invalid({ field: "headers", message });
  }
  return entries.map(([name, value]) => [name, value.trim()]);
}

/** Characters that a tag or a value shows as nothing, or that end a line. */
const unreadable = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u;
const metadataName = /^[A-Za-z0-9_.-]{1,40}$/;

function labelsOf({ tags, metadata }: Static<typeof NewMail>): Pick<EmailDetails, "tags" | "metadata"> {
  const own = [...new Set(tags ?? [])];
  for (const [at, tag] of own.entries()) {
    const field = `tags[${at}]`;
    if (unreadable.test(tag) || tag.trim() !== tag) {
      const message = `${field} must be a text without line breaks, control characters and blanks at its ends`;
      throw invalid({ field, message });
    }
  }
  const pairs = Object.entries(metadata ?? {});
  if (pairs.length > MOST_METADATA) {
    throw invalid({ field: "metadata", message: `metadata may hold at most ${MOST_METADATA} names` });
  }
  for (const [name] of pairs) {
    if (metadataName.test(name)) continue;
    const field = `metadata.${name.slice(0, 100)}`;
    const message = `${field}: a name has 1 to 40 letters, digits, hyphens, underscores and dots`;
    throw invalid({ field, message });
  }
  return {
    ...(own.length > 0 && { tags: own }),
    ...(pairs.length > 0 && { metadata: Object.fromEntries(pairs) }),
  };
}

/** @throws ApiError VALIDATION_ERROR for a time that is unreadable, past or too far ahead */
function readScheduledAt(text: string, now: Date): Date {
  const at = readMoment(text, "scheduled_at");
  const refuse = (message: string) => invalid({ field: "scheduled_at", message: `scheduled_at ${message}` });
  if (at <= now) throw refuse("must be in the future: leave it out to send at once");
  if (at.getTime() > now.getTime() + MOST_DAYS_AHEAD * DAY_MS) {
    throw refuse(`must be at most ${MOST_DAYS_AHEAD} days ahead`);
  }
  return at;
}
