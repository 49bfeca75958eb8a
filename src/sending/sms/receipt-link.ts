/** The address at which an HTTP gateway tells what became of one message; nobody can make one or alter one. */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";
import type { Secrets } from "../../platform/secrets.ts";

export const RECEIPT_PATH = "/sms/receipts/";
const MAC_OCTETS = 16;
const TOKEN = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([\w-]{22})$/;

export function receiptKey(secrets: Secrets): KeyObject {
  return createSecretKey(secrets.derive("SMS receipts"));
}

/** @param base where the gateway reaches us, without a slash at its end */
export function receiptLink(messageId: string, base: string, key: KeyObject): string {
  return `${base}${RECEIPT_PATH}${messageId}.${macOf(messageId, key).toString("base64url")}`;
}

/** The message's id; null for what we did not make. */
export function readReceiptToken(token: string, key: KeyObject): string | null {
  const [, messageId, mac] = TOKEN.exec(token) ?? [];
  if (messageId === undefined || mac === undefined) return null;
  return timingSafeEqual(Buffer.from(mac, "base64url"), macOf(messageId, key)) ? messageId : null;
}

function macOf(messageId: string, key: KeyObject): Buffer {
  return createHmac("sha256", key).update(messageId).digest().subarray(0, MAC_OCTETS);
}
