/**
 * DKIM (RFC 6376, key sizes RFC 8301): signs messages with rsa-sha256 in relaxed/relaxed form, and makes and checks the
 * key record.
 *
 * The RSA operation takes nine tenths of the time of a message, so it runs in the thread pool. The caller keeps the key
 * as a KeyObject, because parsing a PEM takes twice as long as a signature. Further signatures of the same message, by
 * other domains, share its relaxed body.
 */

import { generateKeyPair, hash, type KeyObject, sign } from "node:crypto";
import { promisify } from "node:util";
import { cleanTxt, unrecognizedRecordMessage } from "#mail/dns/txt-cleanup.ts";
import { relaxedBody, relaxedHeader } from "#mail/message/dkim-canonicalization.ts";
import { encodeValue, type HeaderField } from "#mail/message/encode-header.ts";
import { joinOctets, lengthOf, type Octets, writeOctets } from "#mail/message/octet-pieces.ts";

/** Our own opaque header on every message. Complaint reports that hide the recipient still contain it. */
export const messageTokenHeader = "X-Posthaste-Message";

export type DkimKeyBits = 1024 | 2048 | 4096;

/** A message and the key that signs it. */
export interface DkimSigning {
  /** The fields as they are sent, encoded and folded, in order. */
  readonly headers: readonly HeaderField[];
  /** The body as it is sent, before dot-stuffing. */
  readonly body: Octets;
  /** The body in relaxed form, if the caller has it already. */
  readonly relaxedBody?: Octets | null;
  /** The d= tag in lower-case A-labels. */
  readonly domain: string;
  readonly selector: string;
  readonly privateKey: KeyObject;
  readonly timestamp: Date;
}

/**
 * The result of checking the published key: the records found, and a sentence that says what is wrong or what to do.
 */
export interface DkimKeyFinding {
  readonly status: "verified" | "missing" | "mismatch";
  readonly found: readonly string[];
  readonly message: string;
}

/**
 * The fields that are signed if present, each as often as it occurs. From is named once more than it occurs, so that
 * adding a second From breaks the signature (section 8.15). RFC 8058 section 4 requires both List-Unsubscribe fields,
 * RFC 9477 section 3.1.4 both CFBL fields, Gmail requires Feedback-ID.
 */
const signedFields = [
  "From",
  "To",
  "Cc",
  "Subject",
  "Date",
  "Message-ID",
  "Reply-To",
  "MIME-Version",
  "Content-Type",
  "Content-Transfer-Encoding",
  "In-Reply-To",
  "References",
  "List-Id",
  "List-Unsubscribe",
  "List-Unsubscribe-Post",
  "Feedback-ID",
  "CFBL-Address",
  "CFBL-Feedback-ID",
  messageTokenHeader,
];

const signature = "DKIM-Signature";
const generateKeys = promisify(generateKeyPair);

/**
 * Returns the value of a DKIM-Signature field, folded; the caller puts it before the signed fields.
 * @throws Error if the message has no From field or the key is not an RSA private key
 */
export async function signDkim(signing: DkimSigning): Promise<string> {
  const { headers, domain, selector, privateKey, timestamp } = signing;
  const signed = signedLines(headers);
  const unsigned = [
    "v=1",
    "a=rsa-sha256",
    "c=relaxed/relaxed",
    `d=${domain}`,
    `s=${selector}`,
    `t=${Math.floor(timestamp.getTime() / 1000)}`,
    `h=${signed.names.join(": ")}`,
    `bh=${bodyHash(signing)}`,
    "b=",
  ].join("; ");
  // The field itself is signed with an empty b= and without the CRLF at its end (section 3.7).
  const input = Buffer.from(`${signed.lines}${relaxedHeader(signature, unsigned)}`);
  const base64 = (await rsaSha256(input, privateKey)).toString("base64");
  // White space inside b= is ignored, so the value can be folded like any other.
  return encodeValue(`${unsigned}${base64.match(/.{1,72}/g)?.join(" ") ?? ""}`, signature.length + 2);
}

/** Generates a key pair off the main thread: 2048 bits take about 0.1 s, 4096 bits about 1 s of one core. */
export async function generateDkimKey(
  bits: DkimKeyBits,
): Promise<{ readonly privateKey: KeyObject; readonly publicKey: string }> {
  const { privateKey, publicKey } = await generateKeys("rsa", { modulusLength: bits });
  return { privateKey, publicKey: keyData(publicKey) };
}

/** The text of the TXT record at `<selector>._domainkey.<domain>` (section 3.6.1). */
export function dkimRecordValue(publicKey: KeyObject | string): string {
  return `v=DKIM1; k=rsa; p=${keyData(publicKey)}`;
}

/**
 * Checks whether the TXT records at the key's name publish this public key (base64 of its SubjectPublicKeyInfo). Only
 * the p= value is compared: white space and the order of tags differ between DNS panels. Verifiers cannot read a record
 * with quotation marks or backslashes in its text.
 * Records of other kinds at the same name are ignored. Different keys side by side are a mismatch, because verifiers
 * may use any of them (section 3.6.2.2).
 */
export function dkimKeyMatches(txtRecords: readonly string[], publicKey: string): DkimKeyFinding {
  const keys = [...new Set(txtRecords.map(publishedKey).filter((key) => key !== null))];
  const [key, ...more] = keys;
  const mismatch = (message: string): DkimKeyFinding => ({ status: "mismatch", found: txtRecords, message });
  if (key === undefined) {
    const meant = txtRecords.filter(isMeantAsDkim);
    if (meant.length > 0) return mismatch(unrecognizedRecordMessage("DKIM", meant));
    return {
      status: "missing",
      found: txtRecords,
      message: "No DKIM key is published here; add the TXT record.",
    };
  }
  if (more.length > 0)
    return mismatch(`${keys.length} different DKIM keys are published; keep only the expected one.`);
  if (key === "") return mismatch("The record revokes the key: its p= is empty; publish the expected value.");
  if (!/^[a-z0-9+/]+={0,2}$/i.test(key)) {
    return mismatch(
      "The p= of the record is not base64: publish only the key, once, without its BEGIN and END lines.",
    );
  }
  if (Buffer.from(key, "base64").equals(Buffer.from(publicKey, "base64"))) {
    const fault = txtRecords.map(restrictionFault).find((found) => found !== null);
    if (fault != null) return mismatch(fault);
    return { status: "verified", found: txtRecords, message: "The published key is the expected one." };
  }
  return publicKey.startsWith(key)
    ? mismatch(
        `The key is cut off after ${key.length} of ${publicKey.length} characters; split the value into strings.`,
      )
    : mismatch("Another key is published; replace the value of p= by the expected one.");
}

/** The field names for h= and their canonical lines; of a repeated field the last one comes first (section 5.4.2). */
function signedLines(headers: readonly HeaderField[]): { names: string[]; lines: string } {
  const fields = Map.groupBy(headers, ([name]) => name.toLowerCase());
  const names = ["From"];
  let lines = "";
  for (const name of signedFields) {
    for (const [, value] of fields.get(name.toLowerCase())?.toReversed() ?? []) {
      names.push(name);
      lines += `${relaxedHeader(name, value)}\r\n`;
    }
  }
  if (!fields.has("from")) throw new Error("A message without a From field cannot be signed.");
  return { names, lines };
}

function bodyHash({ body, relaxedBody: relaxed }: Pick<DkimSigning, "body" | "relaxedBody">): string {
  const octets = relaxed ? hashInput(relaxed) : relaxedBody(joinOctets(body));
  return hash("sha256", octets, "base64");
}

/** Buffer for the hash input of most bodies. It can be shared because hashing is synchronous. */
const hashBuffer = Buffer.alloc(262_144);

function hashInput(octets: Octets): Buffer {
  if (lengthOf(octets) > hashBuffer.length) return joinOctets(octets);
  return hashBuffer.subarray(0, writeOctets(hashBuffer, octets));
}

function rsaSha256(input: Buffer, privateKey: KeyObject): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    sign("sha256", input, privateKey, (error, signed) => (error ? reject(error) : resolve(signed)));
  });
}

function keyData(publicKey: KeyObject | string): string {
  return typeof publicKey === "string"
    ? publicKey
    : publicKey.export({ type: "spki", format: "der" }).toString("base64");
}

/** The p= value of a key record, "" if the key is revoked, null if the text is not a valid key record. */
function publishedKey(record: string): string | null {
  const tags = tagsOf(record);
  const key = tags?.get("p");
  if (tags === null || key === undefined || (tags.get("v") ?? "DKIM1") !== "DKIM1") return null;
  return /["\\]|[^\x20-\x7e]/.test(key + (tags.get("k") ?? "")) ? null : key;
}

/**
 * Why verifiers reject our signatures although the published key is right (section 3.6.1): its k=, h= or s= tag; null
 * if they do not.
 */
function restrictionFault(record: string): string | null {
  const tags = tagsOf(record);
  if (publishedKey(record) === null || tags === null) return null;
  const type = tags.get("k") ?? "rsa";
  if (type.toLowerCase() === "rsa" && type !== "rsa")
    return `The record says k=${type}: write it in lower case.`;
  if (type !== "rsa") return `The record says k=${type}, but the key is an RSA key: publish k=rsa.`;
  const allows = (tag: string, ...wanted: string[]) =>
    (tags.get(tag) ?? wanted[0] ?? "").split(":").some((word) => wanted.includes(word));
  if (!allows("h", "sha256")) return "The record's h= leaves out sha256: remove the tag.";
  if (!allows("s", "*", "email")) return "The record's s= leaves out email: remove the tag.";
  return null;
}

/** Whether a TXT record that receivers do not recognize was probably meant as a DKIM key record. */
export function isMeantAsDkim(text: string): boolean {
  const plain = cleanTxt(text).plain.replace(/\s/g, "");
  return (
    !/^v=(?:spf1|dmarc1)/i.test(plain) &&
    /^v[=:]?dkim|(?:^|;|,)(?:k=rsa|p=mi[ig])|^mi[ig][a-z0-9+/=]{100}/i.test(plain)
  );
}

/**
 * The tags of a record without white space, which differs between DNS panels. Null if the record is invalid as a whole
 * (section 3.2): a part without "=", or a repeated name.
 */
function tagsOf(record: string): Map<string, string> | null {
  const tags = new Map<string, string>();
  for (const part of record
    .replace(/[ \t\r\n]/g, "")
    .split(";")
    .filter(Boolean)) {
    const [, name, value] = /^([a-z]\w*)=(.*)$/i.exec(part) ?? [];
    if (name === undefined || value === undefined || tags.has(name)) return null;
    tags.set(name, value);
  }
  return tags;
}
