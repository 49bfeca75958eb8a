/** Addresses in the cells of CSV files, read and written by the million. */

import { normalizeAddress, parseAddress } from "#mail/address.ts";
import { unguardFormula } from "#platform/csv/formulas.ts";

/**
 * Addresses that are in normal form (mail/address.ts) once they are lower-case: letters, digits, dots and hyphens. All
 * but one in a thousand are. This check takes a sixth of the time of the parser.
 */
const plain =
  /^[a-z0-9_+-]{1,64}(?:\.[a-z0-9_+-]+)*@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const LONGEST_PLAIN = 64;

export type ReadAddress =
  | { readonly ok: true; readonly email: string }
  | { readonly ok: false; readonly message: string };

/** Parses an address into the form that is stored and compared. */
export function readAddress(text: string): ReadAddress {
  const lower = text.toLowerCase();
  if (lower.length <= LONGEST_PLAIN && plain.test(lower)) return { ok: true, email: lower };
  const address = parseAddress(text);
  return address.ok ? { ok: true, email: normalizeAddress(address.address) } : address;
}

/** The address in a cell, without the apostrophe that spreadsheets and exports put before it, or quotes around it. */
export function addressInCell(cell: string): string {
  const text = unguardFormula(cell.trim()).trim();
  if (!text.startsWith("'") || !text.includes("@")) return text;
  return text.slice(1, text.length > 2 && text.endsWith("'") ? -1 : undefined).trim();
}

/** The cell for an address, so that addressInCell reads the same address from it. */
export function cellOfAddress(email: string): string {
  return email.startsWith("'") ? `'${email}` : email;
}
