/** Maps the columns of an import file by their headers, in whatever spelling. */

import type { CustomField } from "#audience/custom-fields/custom-field.ts";
import { SUBSCRIBED_AT } from "#audience/exports/export-row.ts";
import {
  headerKey,
  isAddressName,
  localNames,
  otherNames,
  ownNames,
} from "#audience/files/known-column-names.ts";
import type { OptOutColumn } from "#audience/imports/opt-outs/find-columns.ts";
import { columnKey } from "#platform/csv/find-column.ts";
import { ApiError } from "#platform/errors.ts";

type Known = keyof typeof ownNames;

export interface Column {
  /** From 0. */
  readonly place: number;
  /** As the file spells it. */
  readonly header: string;
}

/** What the header says by itself: the column of addresses may be missing. */
export type FoundColumns = Omit<Columns, "email"> & { readonly email: Column | undefined };

export type Columns = { readonly [Name in Exclude<Known, "email">]: Column | undefined } & {
  readonly email: Column;
  /** Number of cells in the header. */
  readonly width: number;
  /** The headers as they may be shown. */
  readonly headers: readonly string[];
  readonly custom: readonly (Column & { readonly field: CustomField })[];
  /** Columns of which the sender says that they tell who gets no mail; more are found by their names. */
  readonly optOuts: readonly OptOutColumn[];
  /** Columns that the sender's mapping leaves out, even if they say who gets no mail. */
  readonly ignored: readonly Column[];
  /** Columns that are unknown, that repeat a known one, or that the sender does not want. */
  readonly skipped: readonly Column[];
  /** Columns without a header. They are skipped; reported only if they hold values. */
  readonly unnamed: readonly Column[];
  /** Warnings for the sender about the mapping. */
  readonly warnings: readonly string[];
};

/** Limit of reported columns of either kind. */
export const MOST_SKIPPED = 200;

/**
 * Reads the header. Columns that are not the list's own are custom fields. The most specific names are matched first:
 * our own names, names of fields as they are, names of fields with variations, names in other programs, labels of
 * fields, and names in other languages. If no name identifies the column of addresses, the cells do.
 * @param fields those in force on the list
 * @param rows some rows after the header
 * @throws ApiError BAD_REQUEST without a column of addresses
 */
export function readColumns(
  header: readonly string[],
  fields: readonly CustomField[],
  rows: readonly (readonly string[])[] = [],
): Columns {
  if (header.some(isAddress)) throw noAddresses(header);
  const { email, ...found } = findColumns(header, fields, rows);
  if (email === undefined) throw noAddresses(header);
  return { ...found, email };
}

/** Like `readColumns`, but also for a header without a column of addresses, and for blank names (no header). */
export function findColumns(
  header: readonly string[],
  fields: readonly CustomField[],
  rows: readonly (readonly string[])[],
): FoundColumns {
  const warnings: string[] = [];
  const taken = new Set<number>();
  const take = (is: (text: string) => boolean): Column | undefined => {
    const place = header.findIndex((text, at) => !taken.has(at) && is(text));
    if (place < 0) return undefined;
    taken.add(place);
    return { place, header: shown(header[place] ?? "") };
  };
  const headerKeys = new Map(header.map((text) => [text, headerKey(text)]));
  const columnKeys = new Map(header.map((text) => [text, columnKey(text)]));
  const takeNamed = (keys: ReadonlySet<string>) => take((text) => keys.has(headerKeys.get(text) ?? ""));
  const takePlace = (place: number | undefined) => {
    if (place === undefined) return undefined;
    const column = columnAt(header, place);
    taken.add(place);
    warnings.push(`No column is named Email: the column "${column.header}" was taken, which holds addresses`);
    return column;
  };
  const email =
    takeNamed(ownNames.email) ??
    takeNamed(otherNames.email) ??
    takeNamed(localNames.email) ??
    takePlace(placeOfAddresses(header, rows));
  const own = {
    first_name: takeNamed(ownNames.first_name),
    last_name: takeNamed(ownNames.last_name),
    status: takeNamed(ownNames.status),
    source: takeNamed(ownNames.source),
  };
  const columns = new Map<CustomField, Column>();
  const takeFields = (isOf: (text: string, field: CustomField) => boolean) => {
    for (const field of fields) {
      const column = columns.has(field) ? undefined : take((text) => isFree(text) && isOf(text, field));
      if (column !== undefined) columns.set(field, column);
    }
  };
  const namesOfFields = new Map(fields.map((field) => [field, columnKey(field.field_name)]));
  const labelsOfFields = new Map(fields.map((field) => [field, columnKey(field.field_label)]));
  const isCalled = (text: string, name: string | undefined) =>
    name !== undefined && name !== "" && columnKeys.get(text) === name;
  takeFields((text, { field_name }) => text.trim().toLowerCase() === field_name);
  takeFields((text, field) => isCalled(text, namesOfFields.get(field)));
  const known = {
    first_name: own.first_name ?? takeNamed(otherNames.first_name),
    last_name: own.last_name ?? takeNamed(otherNames.last_name),
    status: own.status ?? takeNamed(otherNames.status),
    source: own.source,
  };
  takeFields((text, field) => isCalled(text, labelsOfFields.get(field)));
  const named = {
    ...known,
    first_name: known.first_name ?? takeNamed(localNames.first_name),
    last_name: known.last_name ?? takeNamed(localNames.last_name),
  };
  const custom = fields.flatMap((field) => {
    const column = columns.get(field);
    return column === undefined ? [] : [{ ...column, field }];
  });
  return {
    ...named,
    email,
    optOuts: [],
    ignored: [],
    ...restOf(header, (place) => taken.has(place)),
    custom,
    warnings,
  };
}

/** The parts of `Columns` that follow from the columns that are taken. */
export function restOf(
  header: readonly string[],
  isTaken: (place: number) => boolean,
): Pick<Columns, "width" | "headers" | "skipped" | "unnamed"> {
  const left = header
    .map((text, place) => ({ place, header: shown(text) }))
    .filter(({ place }) => !isTaken(place));
  const skipped = left.filter(({ header }) => header !== "").slice(0, MOST_SKIPPED);
  const unnamed = left
    .filter(({ header }) => header === "")
    .slice(0, MOST_SKIPPED)
    .map(({ place }) => columnAt(header, place));
  return { width: header.length, headers: header.map(shown), skipped, unnamed };
}

export function columnAt(header: readonly string[], place: number): Column {
  return { place, header: shown(header[place] ?? "") || `column ${place + 1}` };
}

/** The first free column that is called Status, by us or by other programs. */
export function statusColumn(
  header: readonly string[],
  isTaken: (place: number) => boolean,
): Column | undefined {
  const placeOf = (keys: ReadonlySet<string>) =>
    header.findIndex((text, place) => !isTaken(place) && keys.has(headerKey(text)));
  const own = placeOf(ownNames.status);
  const place = own < 0 ? placeOf(otherNames.status) : own;
  return place < 0 ? undefined : columnAt(header, place);
}

/** The header may be among this many first rows: programs write titles and dates above it. */
const MOST_ABOVE = 10;

/**
 * The index of the header row. A row that holds an address belongs to a person, and so do all rows after it.
 * @param isHeader whether a row can be the header, by its names
 */
export function headerAmong(
  rows: readonly { readonly cells: readonly string[] }[],
  isHeader: (cells: readonly string[]) => boolean = (cells) => cells.some(isAddressName),
): number {
  const first = rows.slice(0, MOST_ABOVE);
  const people = first.findIndex(({ cells }) => hasAddress(cells));
  const above = people < 0 ? first : first.slice(0, people);
  return Math.max(
    0,
    above.findIndex(({ cells }) => isHeader(cells)),
  );
}

/** Whether a row belongs to a person. */
export function hasAddress(cells: readonly string[]): boolean {
  return cells.some(isAddress);
}

/** Whether a cell looks like an address; runs in linear time, because the file may hold anything. */
function isAddress(cell: string): boolean {
  const text = cell.trim();
  const at = text.indexOf("@");
  return at > 0 && at === text.lastIndexOf("@") && text.slice(at + 2, -1).includes(".") && !/\s/.test(text);
}

/** Share of the cells of a column of addresses that must be addresses; some rows may be broken. */
const LEAST_ADDRESSES = 0.8;
const MOST_LOOKED_AT = 100;

/** The only column that holds addresses. A first row with an address in it is a person's. */
function placeOfAddresses(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): number | undefined {
  const places = header.flatMap((name, place) => {
    const cells = rows
      .slice(0, MOST_LOOKED_AT)
      .map((row) => row[place] ?? "")
      .filter((cell) => cell.trim() !== "");
    const all = isAddress(name) ? [name, ...cells] : cells;
    const found = all.filter(isAddress).length;
    return found > 0 && found >= LEAST_ADDRESSES * all.length ? [place] : [];
  });
  return places.length === 1 ? places[0] : undefined;
}

function noAddresses(header: readonly string[]): ApiError {
  if (header.every((name) => name === "")) {
    return new ApiError(
      "BAD_REQUEST",
      "No single column holds addresses: name the column of the addresses, and others, by position in mapping",
    );
  }
  const names = header.slice(0, MOST_SHOWN).map(shown).join(", ");
  const advice = header.some(isAddress)
    ? ". It holds an address: put a row with the names of the columns above it, such as Email,First,Last, or send has_header=false"
    : ". Give the column of the addresses that name, or name it in mapping";
  return new ApiError("BAD_REQUEST", `The first row has no column named Email; it has: ${names}${advice}`);
}

/** Neither the subscription date of an export nor the reasons beside refused rows are a custom field. */
const isFree = (text: string) => text.trim() !== SUBSCRIBED_AT && text.trim() !== REASONS;

/** The last column of the file with refused rows: why each of them was refused. */
export const REASONS = "Import error";

const MOST_SHOWN = 20;
const LONGEST_SHOWN = 100;

/** A header as it may be shown and stored: without NUL and lone surrogates. */
function shown(header: string): string {
  return header.trim().replaceAll("\0", "").slice(0, LONGEST_SHOWN).toWellFormed();
}
