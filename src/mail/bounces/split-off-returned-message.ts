/** The text of a bounce, separated from the message that it returns. */
import { messageTokenHeader } from "#mail/dkim/dkim.ts";
import { noticeLines } from "./failed-recipients-in-text.ts";
import { headerText, headerValue, type MailPart, ownParts, partText, readFields } from "./lenient-mime.ts";
import {
  describeReturned,
  looksLikeOurs,
  type ReturnedMessage,
  returnedMessage,
} from "./returned-message.ts";

/** The text of a bounce, and the message that it returns. */
export interface BounceNotice {
  readonly subject: string;
  /** The lines of the reporter's own text. */
  readonly lines: readonly string[];
  readonly returned: ReturnedMessage | null;
  /** The bounce contains our message, or a message as a part: people who reply seldom send that. */
  readonly returnsMessage: boolean;
}

/** Separates the reporter's text from the returned message. Plain text parts take precedence over HTML parts. */
export function readNotice(mail: MailPart): BounceNotice {
  const texts = [...ownParts(mail)].filter(
    ({ type }) => type.startsWith("text/") && !type.includes("rfc822"),
  );
  const plain = texts.filter((part) => part.type !== "text/html" && part.body.trim() !== "");
  const text = (plain.length > 0 ? plain : texts).map(partText).join("\n\n");
  const attached = returnedMessage(mail);
  const returned = attached ?? returnedInText(text);
  return {
    subject: headerText(mail, "Subject"),
    lines: noticeLines(text),
    returned,
    returnsMessage: attached !== null || (returned !== null && looksLikeOurs(returned)),
  };
}

const FIELD = /^(?:> ?)?[\w-]+:\s/;
const TOKEN_FIELD = new RegExp(`^(?:> ?)?${messageTokenHeader}:`, "i");

/** The header of our message if it is quoted in the text: after a line that announces it, or around our token. */
function returnedInText(text: string): ReturnedMessage | null {
  const lines = text.split(/\r\n?|\n/);
  const cut = noticeLines(text).length;
  let start = lines.findIndex((line, at) => at >= cut && FIELD.test(line));
  if (start < 0) start = lines.findIndex((line) => TOKEN_FIELD.test(line));
  if (start < 0) return null;
  while (start > 0 && /^(?:> ?)?(?:[\w-]+:\s|[ \t]+\S)/.test(lines[start - 1] ?? "")) start--;
  const quoted = lines.slice(start).map((line) => line.replace(/^> ?/, ""));
  const { headers } = readFields(quoted.join("\n"));
  return headers.length > 1 ? describeReturned(headers) : null;
}

/** The addresses in a field or a text, unchanged. */
export function addressesIn(text: string): string[] {
  return text.split(/[\s<>()[\]"',;:]+/).filter((word) => word.slice(1, -1).includes("@"));
}

/**
 * Addresses that cannot be the failed recipient, in lower case: the reporter's, ours to which the bounce was sent, and
 * the sender of the returned message.
 */
export function unrelatedAddresses(mail: MailPart, { returned }: BounceNotice): ReadonlySet<string> {
  const names = ["From", "To", "Reply-To", "Sender", "Errors-To"];
  const written = new Set(addressesIn(returned?.to ?? "").map((address) => address.toLowerCase()));
  const senders =
    returned === null
      ? []
      : ["From", "Sender", "Reply-To", "Return-Path", "Errors-To"].map(
          (name) => headerValue(returned, name) ?? "",
        );
  const ours = senders.flatMap(addressesIn).map((address) => address.toLowerCase());
  return new Set([
    ...names.flatMap((name) => addressesIn(headerText(mail, name))).map((address) => address.toLowerCase()),
    // A sender may also be the recipient.
    ...ours.filter((address) => !written.has(address)),
  ]);
}
