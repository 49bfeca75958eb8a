/**
 * The octets of a short message: the alphabet that all telephones have (GSM 03.38, 160 characters to an SMS) where the
 * text fits into it, else UCS-2 (70). A longer text is one message of several parts, 153 or 67 characters each: the
 * service centre takes it whole and divides it, so that it has one id and one receipt.
 */
import smpp from "smpp";

export interface EncodedText {
  /** SMPP 3.4 section 5.2.19: 0, the service centre's own alphabet, and 8, UCS-2. */
  readonly dataCoding: 0 | 8;
  readonly octets: Buffer;
  readonly parts: number;
}

const UCS2 = 8;
/** Characters of a lone SMS and of a part, of the two alphabets. */
const gsmLimits = [160, 153] as const;
const ucs2Limits = [70, 67] as const;

export const MOST_PARTS = 10;

export function encodeText(text: string): EncodedText {
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
