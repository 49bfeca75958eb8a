/** What the text of a search may be: an id, a Message-ID, an address, or a part of a name. */
import { domainInALabels, normalizeAddress } from "#mail/address.ts";
import { isUuid } from "#platform/ids.ts";

export interface SearchTerm {
  /** As it was typed, without surrounding blanks. */
  readonly text: string;
  /** Set if the text is an id of any resource; only ids are compared then. */
  readonly id: string | null;
  /** The id of a message: the text, or the local part of its Message-ID. */
  readonly messageId: string | null;
  /** A whole address as it is stored. */
  readonly address: string | null;
  /** Beginnings of stored addresses and domains: in lower case, domains in A-labels, without a leading `@`. */
  readonly beginnings: readonly string[];
}

/** A Message-ID in angle brackets (RFC 5322 section 3.6.4), or an address that was copied with them. */
const bracketed = /^<([^<>\s]+)>$/;

export function searchTermOf(typed: string): SearchTerm {
  const text = bracketed.exec(typed)?.[1] ?? typed;
  const lower = text.toLowerCase().normalize("NFC");
  const local = lower.split("@", 1)[0] ?? "";
  const beginnings = [lower, domainInALabels(lower)].map((one) => one.replace(/^@/, ""));
  return {
    text,
    id: isUuid(lower) ? lower : null,
    messageId: isUuid(local) ? local : null,
    address: /^[^@\s]+@[^@\s]+$/.test(text) ? normalizeAddress(text) : null,
    beginnings: [...new Set(beginnings)].filter((one) => one !== ""),
  };
}
