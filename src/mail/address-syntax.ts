/**
 * Whether a text is an address by the grammar of SMTP (RFC 5321 section 4.1.2 with the limits of 4.5.3.1, RFC 6531 for
 * what is not ASCII). It judges addresses that others gave out and nobody is about to write to, so it takes the
 * lawful oddities that parseAddress (address.ts) refuses for safety's sake: `a%b@example.com`, `"a@b"@example.com`.
 *
 * Refused as undeliverable are address literals (`x@[192.0.2.1]`) and names of one label, and with the comments and
 * folding of RFC 5322 all that only mail headers may hold.
 */
import {
  dotAtom,
  headerTextFault,
  invisible,
  maxAddressOctets,
  maxLocalOctets,
  parseDomain,
} from "./address.ts";

export type AddressSyntax =
  | {
      readonly ok: true;
      /** As it stands before the @ in SMTP, quoted only where it has to be. */
      readonly local: string;
      /** Lower-case A-labels. */
      readonly domain: string;
    }
  | { readonly ok: false; readonly message: string };

/** Characters worth reading. */
const LONGEST_TEXT = 1_000;

/** A Quoted-string; what a backslash quotes is printable ASCII. */
const quotedAddress = /^"((?:[^"\\]|\\[ -~])*)"@(.*)$/u;

/** Reads one bare address; blanks round it do not count. */
export function readSyntax(text: string): AddressSyntax {
  const bare = text.trim();
  if (bare.length > LONGEST_TEXT) return refuse(`An address has at most ${maxAddressOctets} characters.`);
  const fault = headerTextFault(bare);
  if (fault !== null) return refuse(fault);
  const quoted = quotedAddress.exec(bare);
  const at = bare.indexOf("@");
  if (quoted === null && at < 0) return refuse("An address has an @.");
  const local = quoted === null ? bare.slice(0, at) : canonical(quoted[1] ?? "");
  if (invisible.test(local.replaceAll(" ", "")))
    return refuse("The part before the @ has an invisible character.");
  if (quoted === null && !dotAtom.test(local)) {
    return refuse(
      local === ""
        ? "There is nothing before the @."
        : "The part before the @ has a character or dot too many.",
    );
  }
  if (Buffer.byteLength(local) > maxLocalOctets) {
    return refuse(`The part before the @ has more than ${maxLocalOctets} octets.`);
  }
  const name = quoted === null ? bare.slice(at + 1) : (quoted[2] ?? "");
  // What a person may type for a domain, its root's dot included, is more than what stands in an address.
  if (/\s|\.$/u.test(name)) return refuse("The domain has a blank in it, or a dot at its end.");
  const host = parseDomain(name);
  if (!host.ok) return host;
  if (Buffer.byteLength(local) + 1 + host.domain.length > maxAddressOctets) {
    return refuse(`The address has more than ${maxAddressOctets} octets.`);
  }
  return { ok: true, local, domain: host.domain };
}

/** A Quoted-string with its content and no backslash too many; without quotes where it needs none. */
function canonical(content: string): string {
  const plain = content.replace(/\\(.)/gu, "$1");
  return dotAtom.test(plain) ? plain : `"${plain.replace(/["\\]/g, "\\$&")}"`;
}

function refuse(message: string): AddressSyntax {
  return { ok: false, message };
}
