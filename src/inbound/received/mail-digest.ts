/**
 * Recognises a mail that its sender repeats because it lost our reply: the same Message-ID, sender, recipient and body. The
 * body counts, because some programs give all their mails one Message-ID. Of a mail without Message-ID the header counts, too.
 */
import { createHash } from "node:crypto";
import { endOfHeader } from "#mail/message/header-end.ts";

/** Octets in which the end of the header is searched; beyond it, all is body. */
const MOST_HEADER_BYTES = 256 * 1024;
/** The value may be on the next line (folding), and may be missing. */
const MESSAGE_ID = /^message-id[ \t]*:(?:\r?\n(?=[ \t])|[ \t])*([^\s][^\r\n]*)/im;

/** What of a mail is compared. */
export interface MailContent {
  readonly messageId: string;
  /** SHA-256. */
  readonly hash: Buffer;
}

/** Hashes outside the event loop: a mail may have 40 MB. */
export async function hashContent(raw: Buffer): Promise<MailContent> {
  const end = endOfHeader(raw, MOST_HEADER_BYTES);
  const messageId = MESSAGE_ID.exec(raw.toString("latin1", 0, end))?.[1]?.trim() ?? "";
  const start = messageId === "" ? 0 : end;
  const octets = new Uint8Array(raw.buffer, raw.byteOffset + start, raw.length - start);
  return { messageId, hash: Buffer.from(await crypto.subtle.digest("SHA-256", octets)) };
}

/** SHA-256 over what makes a mail to one recipient the same mail. */
export function digestOfMail(
  { messageId, hash }: MailContent,
  envelope: { readonly mailFrom: string; readonly rcptTo: string },
): Buffer {
  const digest = createHash("sha256").update(hash);
  for (const text of [messageId, envelope.mailFrom, envelope.rcptTo.toLowerCase()]) {
    digest.update("\0").update(text);
  }
  return digest.digest();
}
