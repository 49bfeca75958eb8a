/** How many SMS a text takes: 160 characters of the GSM alphabet (GSM 03.38), or 70 of others; in longer texts each part has fewer. */

const basic =
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";
/** These take the room of two. */
const extended = "\f^{}\\[~]|€";

export interface SmsSize {
  readonly alphabet: "GSM-7" | "UCS-2";
  readonly characters: number;
  readonly parts: number;
  /** Room left in the last part. */
  readonly left: number;
  /** The first character that is not in the GSM alphabet. */
  readonly foreign: string | undefined;
}

export function smsSizeOf(text: string): SmsSize {
  const foreign = Array.from(text).find((one) => !basic.includes(one) && !extended.includes(one));
  const characters =
    foreign === undefined
      ? Array.from(text).reduce((sum, one) => sum + (extended.includes(one) ? 2 : 1), 0)
      : text.length;
  const [alone, each] = foreign === undefined ? [160, 153] : [70, 67];
  const parts = characters <= alone ? 1 : Math.ceil(characters / each);
  const room = parts === 1 ? alone : parts * each;
  return {
    alphabet: foreign === undefined ? "GSM-7" : "UCS-2",
    characters,
    parts,
    left: room - characters,
    foreign,
  };
}
