/**
 * Encodes the text of an SMS: in the GSM 03.38 alphabet if the text fits (160 characters an SMS), else in UCS-2 (70). A longer
 * text is one message of several parts of 153 or 67 characters. The service centre takes it whole and splits it, so it has one
 * id and one receipt.
 */
import smpp from "smpp";

export interface EncodedSms {
  /** SMPP 3.4 section 5.2.19: 0 is the service centre's default alphabet, 8 is UCS-2. */
  readonly dataCoding: 0 | 8;
  readonly octets: Buffer;
  readonly parts: number;
}

const UCS2 = 8;
/** Characters of a single SMS and of one part of several. */
const gsmLimits = [160, 153] as const;
const ucs2Limits = [70, 67] as const;

export const MOST_PARTS = 10;

export function encodeSmsText(text: string): EncodedSms {
  const { ASCII, UCS2: wide } = smpp.encodings;
  if (ASCII.match(text)) {
    const octets = ASCII.encode(text);
    return { dataCoding: 0, octets, parts: partsOf(octets.length, gsmLimits) };
  }
  const octets = wide.encode(text);
  return { dataCoding: UCS2, octets, parts: partsOf(octets.length / 2, ucs2Limits) };
}

function partsOf(length: number, [alone, part]: readonly [number, number]): number {
  return length <= alone ? 1 : Math.ceil(length / part);
}
