/** What may stand on a suppression list: an address, or a whole domain written `example.com` or `@example.com`. */

import { readAddress } from "#audience/files/address-cell.ts";
import { parseDomain } from "#mail/address.ts";
import { parseMailbox } from "#mail/mailbox.ts";

export const entryTypes = ["email", "domain"] as const;
export type EntryType = (typeof entryTypes)[number];

/** One value as it was given and as recipients are compared with it. */
export interface EntryValue {
  readonly value: string;
  readonly normalized: string;
  readonly type: EntryType;
}

/** Quotes that spreadsheets and people put round a value. */
const QUOTED = /^(?:"([^"]*)"|'([^']*)'|“([^”]*)”)$/;

/** What parts two entries: a line break, a comma or a semicolon, with the blank ones that follow. */
const SEPARATOR = /[\r\n,;][\s,;]*/;

/**
 * The pieces of a text that are not blank, parted by line breaks, commas and semicolons.
 * @returns undefined when there are more than `most`; the text is not read on then
 */
export function splitEntries(text: string, most: number): string[] | undefined {
  // Only the first and the last piece can be blank, and those that are empty quotes.
  const pieces = text.split(SEPARATOR, most + 3);
  if (pieces.length > most + 2) return undefined;
  const entries = pieces.map(unquoted).filter((item) => item !== "");
  return entries.length > most ? undefined : entries;
}

/**
 * Reads one value. Case, the dot that may end a domain, and the script a domain is written in make no difference; tags
 * behind a plus sign and dots do, for two people may be meant. A display name round the address is left out.
 * @returns undefined for what is neither an address nor a domain, and for `*@example.com`: literally that is an address,
 * but nobody means it (see wildcardHint)
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

/** What to write instead, in brackets, for what was meant as a pattern; else nothing. */
export function wildcardHint(text: string): string {
  const value = unquoted(text);
  return value.startsWith(WILDCARD) ? ` (for the whole domain write ${value.slice(1)})` : "";
}

function withoutName(text: string): string {
  const mailbox = parseMailbox(text);
  return mailbox.ok ? mailbox.address : "";
}

/** Without the blanks and the quotes round it. */
export function unquoted(text: string): string {
  const trimmed = text.trim();
  const [, ...quoted] = QUOTED.exec(trimmed) ?? [];
  return quoted.find((content) => content !== undefined)?.trim() ?? trimmed;
}
