/**
 * Verifies the DKIM signatures of a received mail (RFC 6376) with mailauth. The key records are looked up before, so that the
 * thread waits for nothing; a mail with more signatures than any honest one is not verified, because each may make the
 * verifier hash the whole body again.
 */
import { dkimVerify } from "mailauth/lib/dkim/verify.js";
import { endOfHeader } from "#mail/message/header-end.ts";
import { storable } from "./storable-text.ts";

export const signatureResults = [
  "pass",
  "fail",
  "neutral",
  "none",
  "policy",
  "temperror",
  "permerror",
] as const;
type SignatureResult = (typeof signatureResults)[number];

/** The outcome of each signature, and what DMARC needs of the From fields. */
export interface VerifiedSignatures {
  readonly signatures: readonly {
    readonly domain: string;
    readonly selector: string;
    readonly result: SignatureResult;
  }[];
  /** Addresses in From, and the number of From fields: DMARC needs exactly one. */
  readonly headerFrom: readonly string[];
  readonly fromFields: number;
}

/** TXT records by the name of a key; null: the look-up failed. A name that is not in it has no record. */
export type KeyRecords = Readonly<Record<string, readonly string[] | null>>;

const MOST_SIGNATURES = 10;
/** Signatures of ARC (RFC 8617) are hashed in the same way, and a forwarded mail has several. */
const SIGNATURE_FIELD = /^(?:dkim-signature|arc-message-signature)[ \t]*:/gim;
const MOST_FIELDS = 30;
const MOST_HEADER_BYTES = 256 * 1024;
const none: VerifiedSignatures = { signatures: [], headerFrom: [], fromFields: 0 };

/** The names of the key records that the signatures need; those beyond MOST_SIGNATURES are left out. */
export function keyNamesOf(raw: Uint8Array): string[] {
  const fields = headerOf(raw)
    .replace(/\r?\n[ \t]+/g, " ")
    .matchAll(/^dkim-signature[ \t]*:(.*)$/gim);
  const names = [...fields.take(MOST_SIGNATURES)].flatMap(([, value = ""]) => {
    const tag = (name: string) => new RegExp(`(?:^|;)\\s*${name}\\s*=\\s*([^;\\s]{1,253})`).exec(value)?.[1];
    const [domain, selector] = [tag("d"), tag("s")];
    return domain && selector ? [`${selector}._domainkey.${domain}`.toLowerCase()] : [];
  });
  return [...new Set(names)];
}

/** Never throws: a mail that cannot be verified has no signatures. */
export async function verifySignatures(raw: Uint8Array, keys: KeyRecords): Promise<VerifiedSignatures> {
  const fields = headerOf(raw).match(SIGNATURE_FIELD)?.length ?? 0;
  if (fields > MOST_FIELDS) return none;
  const resolver = async (name: string): Promise<string[][]> => {
    const records = Object.hasOwn(keys, name.toLowerCase()) ? keys[name.toLowerCase()] : [];
    if (records === null) throw Object.assign(new Error("look-up failed"), { code: "ETIMEOUT" });
    if (records === undefined || records.length === 0) {
      throw Object.assign(new Error("no record"), { code: "ENOTFOUND" });
    }
    return records.map((record) => [record]);
  };
  try {
    const octets = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
    const { results, headerFrom, fromFields } = await dkimVerify(octets, { resolver });
    // Of a mail without signatures mailauth gives a result without a domain.
    const given = results.filter(({ signingDomain }) => signingDomain).slice(0, MOST_SIGNATURES);
    const signatures = given.map(({ signingDomain, selector, status }) => ({
      domain: storable(String(signingDomain)).slice(0, 253),
      selector: storable(String(selector)).slice(0, 253),
      result: resultOf(status),
    }));
    return { signatures, headerFrom: headerFrom.slice(0, 10), fromFields };
  } catch {
    return none;
  }
}

/** A signature that leaves the end of the body unsigned (l=) proves nothing about what is shown (RFC 6376 section 8.2). */
function resultOf({
  result,
  underSized = 0,
}: {
  readonly result: string;
  readonly underSized?: number;
}): SignatureResult {
  if (result === "pass" && underSized > 0) return "policy";
  return signatureResults.find((known) => known === result) ?? "neutral";
}

function headerOf(raw: Uint8Array): string {
  const octets = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  return octets.toString("latin1", 0, endOfHeader(octets, MOST_HEADER_BYTES));
}
