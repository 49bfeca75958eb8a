/** Finds the columns that a mapping names, by header or position. */

import { counted } from "#platform/count-phrase.ts";
import { unguardFormula } from "#platform/csv/formulas.ts";
import type { FieldFault } from "#platform/errors.ts";
import type { ImportMapping } from "./mapping.ts";

const MOST_SHOWN = 50;
const LONGEST_SHOWN = 100;

/** For each entry of the mapping the index of its column from 0, or its fault. */
export function findPlaces(header: readonly string[], mapping: ImportMapping): (number | FieldFault)[] {
  const exact = placesBy(header, (text) => text);
  const folded = placesBy(header, fold);
  return mapping.map(({ column }, at) => {
    const refuse = (why: string) => {
      const field = `mapping[${at}].column`;
      return { field, message: `${field} ${why}` };
    };
    if (typeof column === "number") {
      if (column <= header.length) return column - 1;
      return refuse(`is ${column}, and the file has ${counted(header.length, "column")}`);
    }
    const places = exact.get(nameOf(column)) ?? folded.get(fold(nameOf(column))) ?? [];
    const [place] = places;
    if (places.length > 1) {
      const positions = places.map((one) => one + 1).join(", ");
      return refuse(`names ${places.length} columns: name one by its position (${positions})`);
    }
    return place ?? refuse(whyMissing(column, header));
  });
}

/** Whether the header has all columns that the mapping names by their headers. */
export function hasNamedColumns(header: readonly string[], mapping: ImportMapping): boolean {
  const names = new Set(header.map((text) => fold(nameOf(text))));
  return mapping.every(({ column }) => typeof column === "number" || names.has(fold(nameOf(column))));
}

/** The header without blanks around it, and without the apostrophe of an export. */
function nameOf(text: string): string {
  return unguardFormula(text.trim()).trim();
}

function fold(name: string): string {
  return name.normalize("NFKC").toLowerCase();
}

function placesBy(header: readonly string[], keyOf: (name: string) => string): Map<string, number[]> {
  return Map.groupBy(header.keys(), (place) => keyOf(nameOf(header[place] ?? "")));
}

function whyMissing(column: string, header: readonly string[]): string {
  const names = header.flatMap(
    (text) => nameOf(text).replaceAll("\0", "").slice(0, LONGEST_SHOWN).toWellFormed() || [],
  );
  const named = `is no column of the file: "${column.slice(0, LONGEST_SHOWN)}"`;
  if (names.length > 0) return `${named}; it has: ${names.slice(0, MOST_SHOWN).join(", ")}`;
  return `${named}; it is read without a header: name its columns by their positions, from 1`;
}
