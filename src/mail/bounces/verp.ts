/**
 * Signed return paths (VERP): every message has its own MAIL FROM, so that a bounce names the message it is about. The
 * signature prevents forged bounces: only a sender that has seen the return path can cause its recipient's suppression.
 *
 *     b.<52 characters>      base32hex (RFC 4648 section 7) of message id (128 bits), workspace prefix (48 bits) and keyed
 *                            MAC (80 bits)
 *
 * Lower case when written, any case when read, because some servers change it. A message keeps its return path in every
 * attempt, so that greylists recognize the retry.
 */
import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";

/** The message that a return path names. */
export interface NamedMessage {
  readonly messageId: string;
  /** The first twelve hexadecimal digits of its workspace's id: few workspaces have the same, because they are a time. */
  readonly workspacePrefix: string;
}

const PREFIX = "b.";
const ID_HEX_DIGITS = 32;
const WORKSPACE_HEX_DIGITS = 12;
const MAC_BYTES = 10;
/** ⌈(128 + 48 + 80) / 5⌉; with the prefix 54 octets, of the 64 a local part may have (RFC 5321 section 4.5.3.1.1). */
const TOKEN_LENGTH = 52;
const LOCAL_PART = new RegExp(`^b\\.[0-9a-v]{${TOKEN_LENGTH}}$`, "i");
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The local part of a message's return path. The key is a KeyObject because octets would take Node.js five times as
 * long.
 * @throws TypeError if one of the ids is not a UUID
 */
export function encodeReturnPath(workspaceId: string, messageId: string, key: KeyObject): string {
  for (const id of [workspaceId, messageId]) if (!UUID.test(id)) throw new TypeError(`not a UUID: ${id}`);
  return encode(hexDigits(messageId) + hexDigits(workspaceId).slice(0, WORKSPACE_HEX_DIGITS), key);
}

/** Whether a local part has the form of a return path; its signature is not checked. */
export function isReturnPath(localPart: string): boolean {
  return LOCAL_PART.test(localPart);
}

/** The message, or null if `encodeReturnPath` did not make this local part with this key. */
export function decodeReturnPath(localPart: string, key: KeyObject): NamedMessage | null {
  if (!isReturnPath(localPart)) return null;
  const claimed = localPart.toLowerCase();
  const signed = hexOf(claimed.slice(PREFIX.length)).slice(0, ID_HEX_DIGITS + WORKSPACE_HEX_DIGITS);
  // The whole text is compared, so that no second spelling of the same bits is accepted.
  if (!timingSafeEqual(Buffer.from(encode(signed, key)), Buffer.from(claimed))) return null;
  return {
    messageId: signed.slice(0, ID_HEX_DIGITS).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"),
    workspacePrefix: signed.slice(ID_HEX_DIGITS),
  };
}

/** @param signed hexadecimal digits of message id and workspace prefix */
function encode(signed: string, key: KeyObject): string {
  const bits = BigInt(`0x${signed}${mac(signed, key)}`);
  return PREFIX + bits.toString(32).padStart(TOKEN_LENGTH, "0");
}

/** HMAC-SHA256 truncated to 80 bits, in hexadecimal; the label separates it from other uses of the key. */
function mac(signed: string, key: KeyObject): string {
  return createHmac("sha256", key)
    .update(`return-path:${signed}`)
    .digest()
    .subarray(0, MAC_BYTES)
    .toString("hex");
}

function hexDigits(id: string): string {
  return id.toLowerCase().replaceAll("-", "");
}

function hexOf(token: string): string {
  const bits = token
    .split("")
    .reduce((number, digit) => number * 32n + BigInt(Number.parseInt(digit, 32)), 0n);
  return bits.toString(16).padStart(ID_HEX_DIGITS + WORKSPACE_HEX_DIGITS + 2 * MAC_BYTES, "0");
}
