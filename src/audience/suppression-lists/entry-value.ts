/** Values of suppression entries: an address, or a whole domain written `example.com` or `@example.com`. */

import { readAddress } from "#audience/files/address-cell.ts";
import { parseDomain } from "#mail/address.ts";
import { parseMailbox } from "#mail/mailbox.ts";

export const entryTypes = ["email", "domain"] as const;
export type EntryType = (typeof entryTypes)[number];

/** A value as it was given, and the form that recipients are compared with. */
export interface EntryValue {
  readonly value: string;
  readonly normalized: string;
  readonly type: EntryType;
}

/** Quotes that spreadsheets and people put around a value. */
const QUOTED = /^(?:"([^"]*)"|'([^']*)'|“([^”]*)”)$/;

/** The separator of entries: a line break, comma or semicolon, with the blanks after it. */
const SEPARATOR = /[\r\n,;][\s,;]*/;

/**
 * Splits a text at line breaks, commas and semicolons; blank items are dropped.
 * @returns undefined when there are more than `most` items; the rest is not read
 */
export function splitEntries(text: string, most: number): string[] | undefined {
  // Only the first and last piece can be blank, apart from empty quotes.
  const pieces = text.split(SEPARATOR, most + 3);
  if (pieces.length > most + 2) return undefined;
  const entries = pieces.map(unquoted).filter((item) => item !== "");
  return entries.length > most ? undefined : entries;
}

/**
 * Reads one value. Upper case, a dot at the end of a domain, and the script of a domain make no difference. Plus tags
 * and dots in the local part do, because they may belong to different people. A display name is dropped.
 * @returns undefined for a value that is neither an address nor a domain, and for `*@example.com`: it is a valid
 * address, but is meant as a pattern (see wildcardHint)
 */
export function readEntryValue(text: string): EntryValue | undefined {
  const value = unquoted(text);
  if (value.startsWith(WILDCARD)) return undefined;
  const bare = value.endsWith(".") ? value.slice(0, -1) : value;
  if (bare.lastIndexOf("@") > 0) {
    const address = readAddress(bare.endsWith(">") ? withoutName(bare) : bare);
    return address.ok ? { value, normalized: address.email, type: "email" } : undefined;
  }
  const domain = parseDomain(bare.startsWith("@") ? bare.slice(1) : bare);
  return domain.ok ? { value, normalized: domain.domain, type: "domain" } : undefined;
}

const WILDCARD = "*@";

/** A hint in brackets for a value that is meant as a pattern; otherwise empty. */
export function wildcardHint(text: string): string {
  const value = unquoted(text);
  return value.startsWith(WILDCARD) ? ` (for the whole domain write ${value.slice(1)})` : "";
}

function withoutName(text: string): string {
  const mailbox = parseMailbox(text);
  return mailbox.ok ? mailbox.address : "";
}

/** Without blanks and quotes around it. */
export function unquoted(text: string): string {
  const trimmed = text.trim();
  const [, ...quoted] = QUOTED.exec(trimmed) ?? [];
  return quoted.find((content) => content !== undefined)?.trim() ?? trimmed;
}
