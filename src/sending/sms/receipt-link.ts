/**
 * The signed URL to which an HTTP gateway posts the delivery receipt of one SMS. It contains the ids of workspace and
 * message, and a MAC.
 */
import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import type { ShortMessage, SmsReceipt } from "#delivery/sms/gateway.ts";
import { asWorkspaceId } from "#platform/ids.ts";
import type { PurposeKeys, Secrets } from "#platform/secrets/secrets.ts";

export const RECEIPT_PATH = "/sms/receipts/";
const MAC_OCTETS = 16;
const ID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const TOKEN = new RegExp(`^((${ID})\\.(${ID}))\\.([\\w-]{22})$`);

export function receiptKeys(secrets: Secrets): PurposeKeys {
  return secrets.derive("SMS receipts");
}

/** @param base the public URL of the service, without a trailing slash */
export function receiptLink(
  { workspaceId, id }: Pick<ShortMessage, "workspaceId" | "id">,
  base: string,
  key: KeyObject,
): string {
  const named = `${workspaceId}.${id}`;
  return `${base}${RECEIPT_PATH}${named}.${macOf(named, key).toString("base64url")}`;
}

/** The message of the receipt; null when the token is invalid. */
export function readReceiptToken(
  token: string,
  key: KeyObject,
): Pick<SmsReceipt, "gatewayId" | "message"> | null {
  const [, named, workspaceId, messageId, mac] = TOKEN.exec(token) ?? [];
  if (named === undefined || workspaceId === undefined || messageId === undefined || mac === undefined) {
    return null;
  }
  if (!timingSafeEqual(Buffer.from(mac, "base64url"), macOf(named, key))) return null;
  return { gatewayId: messageId, message: { workspaceId: asWorkspaceId(workspaceId), messageId } };
}

function macOf(named: string, key: KeyObject): Buffer {
  return createHmac("sha256", key).update(named).digest().subarray(0, MAC_OCTETS);
}
