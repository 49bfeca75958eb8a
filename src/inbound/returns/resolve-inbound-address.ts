/**
 * The addresses of inbound mail: return paths, complaints, reports, unsubscribe requests and the operator's. Signatures are
 * checked before any look-up, so that guesses cost the database nothing. Only the token of a report address is random
 * instead of signed: a guess costs one index look-up.
 */
import {
  findDomainByReportToken,
  findDomainHolder,
  type ReportedDomain,
} from "#identity/sending-domains/store.ts";
import { decodeReturnPath, type NamedMessage } from "#mail/bounces/verp.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { PurposeKeys } from "#platform/secrets/secrets.ts";
import { readToken, type TrackedMail } from "#tracking/link-tokens.ts";
import { isSentFrom } from "./sent-message-store.ts";

export type InboundAddress =
  | { readonly kind: "return_path"; readonly message: NamedMessage }
  | { readonly kind: "complaint" }
  | { readonly kind: "report"; readonly domain: ReportedDomain }
  | { readonly kind: "unsubscribe"; readonly mail: TrackedMail }
  | { readonly kind: "operator" };

export interface InboundAddressDeps {
  readonly db: Queryable;
  readonly bounceDomain: string;
  /** The signing keys of return paths, and of links in mails. */
  readonly keys: { readonly returnPath: PurposeKeys; readonly link: PurposeKeys };
}

const CUSTOM_HOST = /^bounce\.(.+)$/;
const REPORT_TOKEN = /^d-([0-9a-f]{32})$/;
const OPERATOR = new Set(["postmaster", "abuse"]);

/**
 * The message whose signed token is in one of the fields of a returned header; null when none has one. A field may contain a
 * return path or its local part.
 */
export function signedMessage(
  fields: readonly (string | null | undefined)[],
  keys: PurposeKeys,
): NamedMessage | null {
  for (const field of fields) {
    const [token = ""] = (field ?? "").trim().replace(/^</, "").split("@", 1);
    const message = keys.read((key) => decodeReturnPath(token, key));
    if (message !== null) return message;
  }
  return null;
}

const QUOTED_LOCAL = /^"((?:[^"\\]|\\[ -~])*)"@/;
/** A local part that needs no quotes (RFC 5321 section 4.1.2, Dot-string). */
const DOT_STRING = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;

/** The address without unnecessary quotes, and without the dot at the end of its domain. */
export function plainAddress(address: string): string {
  const [quoted = "", content = ""] = QUOTED_LOCAL.exec(address) ?? [];
  const local = content.replace(/\\(.)/g, "$1");
  const plain = DOT_STRING.test(local) ? `${local}@${address.slice(quoted.length)}` : address;
  return plain.replace(/\.$/, "");
}

/** What an address is for. Null: no such mailbox; "foreign": its domain is not ours. */
export async function resolveInboundAddress(
  { db, bounceDomain, keys }: InboundAddressDeps,
  address: string,
): Promise<InboundAddress | "foreign" | null> {
  const at = address.lastIndexOf("@");
  const given = address.slice(0, at === -1 ? address.length : at);
  const host = address.slice(at + 1).toLowerCase();
  const local = given.toLowerCase();
  // RFC 5321 section 4.5.1: this one name needs no domain.
  if (at === -1) return local === "postmaster" ? { kind: "operator" } : "foreign";
  const message = keys.returnPath.read((key) => decodeReturnPath(local, key));
  if (host !== bounceDomain.toLowerCase()) {
    const [, domain] = CUSTOM_HOST.exec(host) ?? [];
    if (message === null || domain === undefined) return "foreign";
    // Bounces still arrive here after the custom return path was switched off or the domain was lost.
    const isOurs =
      (await findDomainHolder(db, domain)) !== undefined || (await isSentFrom(db, message, domain));
    return isOurs ? { kind: "return_path", message } : "foreign";
  }
  if (message !== null) return { kind: "return_path", message };
  if (local === "fbl") return { kind: "complaint" };
  if (OPERATOR.has(local)) return { kind: "operator" };
  if (local.startsWith("u+")) {
    const mail = keys.link.read((key) => readToken(given.slice(2), "unsubscribe", key));
    return mail && { kind: "unsubscribe", mail };
  }
  const [, token] = REPORT_TOKEN.exec(local) ?? [];
  const domain = token && (await findDomainByReportToken(db, token));
  return domain ? { kind: "report", domain } : null;
}
