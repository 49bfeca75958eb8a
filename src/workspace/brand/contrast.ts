/** Contrast of colours by WCAG 2.2. */
import { type Colord, colord, extend } from "colord";
import a11y from "colord/plugins/a11y";
import mix from "colord/plugins/mix";

extend([a11y, mix]);

/** The least contrast of text (WCAG 2.2, success criterion 1.4.3, level AA). */
export const TEXT_CONTRAST = 4.5;
/** The least contrast of what is not text (success criterion 1.4.11). */
export const EDGE_CONTRAST = 3;

/** Ratio from 1 to 21, rounded down to two decimals. */
export function contrastOf(one: string, other: string): number {
  return colord(one).contrast(other);
}

/** The text colour for a background: white if that is readable, otherwise the lightest of two darks that is. */
export function textOn(background: string): string {
  const isReadable = (text: string) => contrastOf(text, background) >= TEXT_CONTRAST;
  // Black is readable on every colour on which white is not.
  return ["#ffffff", "#1b1f24"].find(isReadable) ?? "#000000";
}

/** `one` with a share of `other`, from 0 to 1. */
export function mixed(one: string, other: string, share: number): string {
  return hexOf(colord(one).mix(other, share));
}

/** `#rrggbb` in lower case; undefined for anything but three or six hexadecimal digits after a `#`. */
export function readHexColor(text: string): string | undefined {
  return /^#(?:[\da-f]{3}|[\da-f]{6})$/i.test(text) ? hexOf(colord(text)) : undefined;
}

function hexOf(color: Colord): string {
  return color.toHex().toLowerCase();
}
