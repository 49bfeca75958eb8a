/**
 * Reads the delivery receipts of SMPP 3.4: a deliver_sm (or data_sm) with a message id and its state, in TLVs (section 5.3.2) or
 * in the text of appendix B, which nearly all service centres write.
 */
import smpp, { type Pdu } from "smpp";

export interface ParsedReceipt {
  readonly gatewayId: string;
  /** Null for an intermediate state. */
  readonly status: "delivered" | "failed" | null;
  readonly detail: string;
}

/** The values of message_state (section 5.2.28). */
const stateNames = [
  "SCHEDULED",
  "ENROUTE",
  "DELIVERED",
  "EXPIRED",
  "DELETED",
  "UNDELIVERABLE",
  "ACCEPTED",
  "UNKNOWN",
  "REJECTED",
];
const delivered: ReadonlySet<string> = new Set(["DELIVERED", "DELIVRD"]);
const failed: ReadonlySet<string> = new Set([
  "EXPIRED",
  "DELETED",
  "UNDELIVERABLE",
  "UNDELIV",
  "REJECTED",
  "REJECTD",
]);
/** Bits 5 to 2 of esm_class, and their value for a receipt (section 5.2.12). */
const TYPE_BITS = 0x3c;
const RECEIPT_BIT = 0x04;

/** Null when the PDU is no receipt, such as a message from a telephone. */
export function parseReceipt(pdu: Pdu): ParsedReceipt | null {
  const isReceipt = ((pdu.esm_class ?? 0) & TYPE_BITS) === RECEIPT_BIT;
  if (!isReceipt && pdu.receipted_message_id === undefined) return null;
  const text = textOf(pdu);
  const named = (name: RegExp) => name.exec(text)?.[1];
  const gatewayId = pdu.receipted_message_id ?? named(/\bid:(\S+)/i) ?? "";
  if (gatewayId === "") return null;
  const state =
    pdu.message_state === undefined
      ? (named(/\bstat:(\w+)/i) ?? "UNKNOWN").toUpperCase()
      : (stateNames[pdu.message_state] ?? "UNKNOWN");
  const code = named(/\berr:(\w+)/i);
  const status = delivered.has(state) ? "delivered" : failed.has(state) ? "failed" : null;
  return { gatewayId, status, detail: code === undefined ? state : `${state} (error ${code})` };
}

/** Receipts are ASCII, although data_coding 0 was decoded as GSM 03.38, which has `§` in place of `_`. */
function textOf({ short_message, message_payload, data_coding }: Pdu): string {
  const message = short_message?.message.length ? short_message.message : (message_payload?.message ?? "");
  if (typeof message !== "string") return message.toString("latin1");
  return data_coding === 0 ? smpp.encodings.ASCII.encode(message).toString("latin1") : message;
}

/** Normalizes a message id: service centres vary its case and leading zeros, and may end it with NUL. */
export function plainId(id: string, isDecimal = false): string {
  const whole = id.replaceAll("\0", "");
  const text = isDecimal && /^\d{1,40}$/.test(whole) ? BigInt(whole).toString(16) : whole;
  return text
    .trim()
    .toLowerCase()
    .replace(/^0+(?=.)/, "")
    .slice(0, 128);
}
