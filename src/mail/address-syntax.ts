/**
 * Checks whether a text is an address by the grammar of SMTP (RFC 5321 section 4.1.2 with the limits of section
 * 4.5.3.1, RFC 6531 for non-ASCII). It is for validating addresses, not for sending, so it accepts valid but unusual
 * forms that parseAddress (address.ts) refuses for safety: `a%b@example.com`, `"a@b"@example.com`.
 *
 * It refuses address literals (`x@[192.0.2.1]`), names of one label, and the comments and folding of RFC 5322, which
 * only header fields may contain.
 */
import {
  dotAtom,
  headerTextFault,
  invisible,
  maxAddressOctets,
  maxLocalOctets,
  parseDomain,
} from "./address.ts";

/** The local part and domain of a valid address, or the fault as a sentence. */
export type AddressSyntax =
  | {
      readonly ok: true;
      /** The local part as it is written in SMTP, quoted only if needed. */
      readonly local: string;
      /** Lower-case A-labels. */
      readonly domain: string;
    }
  | { readonly ok: false; readonly message: string };

/** Longer texts are refused unread. */
const LONGEST_TEXT = 1_000;

/** A Quoted-string; a backslash may quote printable ASCII only. */
const quotedAddress = /^"((?:[^"\\]|\\[ -~])*)"@(.*)$/u;

/** Checks one bare address; surrounding blanks are ignored. */
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
        : "The part before the @ contains a character or dot that is not allowed.",
    );
  }
  if (Buffer.byteLength(local) > maxLocalOctets) {
    return refuse(`The part before the @ has more than ${maxLocalOctets} octets.`);
  }
  const name = quoted === null ? bare.slice(at + 1) : (quoted[2] ?? "");
  // parseDomain also accepts a trailing dot, which an address must not have.
  if (/\s|\.$/u.test(name)) return refuse("The domain has a blank in it, or a dot at its end.");
  const host = parseDomain(name);
  if (!host.ok) return host;
  if (Buffer.byteLength(local) + 1 + host.domain.length > maxAddressOctets) {
    return refuse(`The address has more than ${maxAddressOctets} octets.`);
  }
  return { ok: true, local, domain: host.domain };
}

/** The content of a Quoted-string without needless backslashes, and without quotes if it needs none. */
function canonical(content: string): string {
  const plain = content.replace(/\\(.)/gu, "$1");
  return dotAtom.test(plain) ? plain : `"${plain.replace(/["\\]/g, "\\$&")}"`;
}

function refuse(message: string): AddressSyntax {
  return { ok: false, message };
}
