/**
 * Recognises the usual mistakes behind a record that is missing or differs: most are made by the forms of DNS panels. The
 * message of a check gets a sentence where it does not say it already.
 */
import type { Diagnosis, DnsCheck } from "./dns-check.ts";

/** The result of a check without its diagnosis. */
export type Undiagnosed<Check extends DnsCheck = DnsCheck> = Omit<Check, "diagnosis">;

/** Panels cut a text at 255 characters, the length of one string in a TXT record (RFC 1035 section 3.3.14). */
const LENGTH_OF_STRING = 255;
/** Records whose texts are joined in every order. */
const MOST_PARTS = 6;
/** RFC 7208 section 4.6.4. */
const MOST_LOOKUPS = 10;

/** Advice that the messages of the checks do not give themselves. */
const advice: Readonly<Partial<Record<Diagnosis, string>>> = {
  missing_dot:
    "The DNS panel has appended the domain to the target: end the target with a dot, or enter it as the panel wants it.",
  split_text: "The value is published in several records: put its parts into one record.",
};

/** @param check lookups: DNS look-ups of an SPF record */
export function diagnosed<Check extends Undiagnosed & { readonly lookups?: number }>(
  check: Check,
): Check & { readonly diagnosis: Diagnosis | null } {
  const diagnosis = diagnose(check);
  const sentence = diagnosis === null ? undefined : advice[diagnosis];
  const message = sentence === undefined ? check.message : `${check.message} ${sentence}`;
  return { ...check, message, diagnosis };
}

function diagnose({
  status,
  type,
  host,
  expected,
  found,
  found_host,
  lookups = 0,
}: Undiagnosed & { readonly lookups?: number }): Diagnosis | null {
  if (status !== "mismatch") return null;
  if (found_host !== null) return found_host.startsWith(`${host}.`) ? "doubled_domain" : "wrong_host";
  if (type === "CNAME") return found.some((name) => isAppended(name, expected, host)) ? "missing_dot" : null;
  const texts = found.map(plain);
  const wanted = plain(expected);
  if (texts.length > 1 && texts.length <= MOST_PARTS && isJoinedFrom(wanted, texts)) return "split_text";
  if (texts.length > 1) return isSingle(expected) ? "several_records" : null;
  const [text = ""] = texts;
  if (text.length >= LENGTH_OF_STRING - 20 && text !== wanted && wanted.startsWith(text)) return "cut_text";
  if (found.some((one) => /["\\]/.test(one))) return "quoted_text";
  return lookups > MOST_LOOKUPS ? "too_many_lookups" : null;
}

/** Whether there may be one record only: SPF (RFC 7208 section 4.5), DKIM (RFC 6376 section 3.6.2.2), DMARC (RFC 7489 section 6.6.3). */
function isSingle(expected: string): boolean {
  return /^v=(?:spf1|dkim1|dmarc1)\b/i.test(expected);
}

/** Whether a name is the target with the host, or a domain above it, at its end. */
function isAppended(name: string, target: string, host: string): boolean {
  if (!name.startsWith(`${target}.`)) return false;
  const end = name.slice(target.length + 1);
  return host === end || host.endsWith(`.${end}`);
}

/** Without what panels add. White space in a key has no meaning. */
function plain(text: string): string {
  return text.replace(/["\s]/g, "");
}

/** Whether a text consists of all these parts, in some order. */
function isJoinedFrom(text: string, parts: readonly string[]): boolean {
  if (parts.length === 0) return text === "";
  return parts.some(
    (part, at) =>
      part !== "" && text.startsWith(part) && isJoinedFrom(text.slice(part.length), parts.toSpliced(at, 1)),
  );
}
