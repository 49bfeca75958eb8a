/** Which column of an import file is what: by its header, however that is spelled. */
import { columnKey } from "../../platform/csv/columns.ts";
import { ApiError } from "../../platform/errors.ts";
import type { CustomField } from "../custom-fields/field.ts";
import { SUBSCRIBED_AT } from "../exports/row.ts";

/** Our own names of the columns that every list has, as columnKey gives them. */
const names = {
  email: new Set(["email"]),
  first_name: new Set(["first", "firstname"]),
  last_name: new Set(["last", "lastname"]),
  status: new Set(["status"]),
  source: new Set(["source"]),
} as const;
/** What others' exports call them. */
const otherNames = {
  email: new Set(["emailaddress", "mail", "mailaddress", "subscriberemail", "contactemail"]),
  first_name: new Set(["givenname", "forename", "fname"]),
  last_name: new Set(["surname", "familyname", "lname"]),
  status: new Set(["subscriptionstatus", "subscriberstatus"]),
} as const;

type Known = keyof typeof names;

export interface Column {
  /** From 0. */
  readonly place: number;
  /** As the file calls it. */
  readonly header: string;
}

export type Columns = { readonly [Name in Exclude<Known, "email">]: Column | undefined } & {
  readonly email: Column;
  /** Cells of the header. */
  readonly width: number;
  /** What they say, to be shown. */
  readonly headers: readonly string[];
  readonly custom: readonly (Column & { readonly field: CustomField })[];
  /** Those that are nothing we know, or a second one of something. */
  readonly skipped: readonly Column[];
  /** Those without a header, which are skipped; nobody misses one in which nothing stands. */
  readonly unnamed: readonly Column[];
};

/** Of either kind; who has more of them has seen enough. */
export const MOST_SKIPPED = 200;

/**
 * Reads the header. Other columns are custom fields. What is meant most exactly is found first: our own names, then names of
 * fields as they are, then as people vary them, then what others call our columns, and labels last.
 * @param fields those in force on the list
 * @throws ApiError BAD_REQUEST without a column of addresses
 */
export function readColumns(header: readonly string[], fields: readonly CustomField[]): Columns {
  const taken = new Set<number>();
  const take = (is: (text: string) => boolean): Column | undefined => {
    const place = header.findIndex((text, at) => !taken.has(at) && is(text));
    if (place < 0) return undefined;
    taken.add(place);
    return { place, header: shown(header[place] ?? "") };
  };
  const takeNamed = (keys: ReadonlySet<string>) => take((text) => keys.has(columnKey(text)));
  const email = takeNamed(names.email) ?? takeNamed(otherNames.email);
  if (email === undefined) {
    throw new ApiError(
      "BAD_REQUEST",
      `The first row has no column named Email; it has: ${header.slice(0, MOST_SHOWN).map(shown).join(", ")}`,
    );
  }
  const own = {
    first_name: takeNamed(names.first_name),
    last_name: takeNamed(names.last_name),
    status: takeNamed(names.status),
    source: takeNamed(names.source),
  };
  const columns = new Map<CustomField, Column>();
  const takeFields = (isOf: (text: string, field: CustomField) => boolean) => {
    for (const field of fields) {
      const column = columns.has(field) ? undefined : take((text) => isFree(text) && isOf(text, field));
      if (column !== undefined) columns.set(field, column);
    }
  };
  const isCalled = (text: string, name: string) =>
    columnKey(name) !== "" && columnKey(text) === columnKey(name);
  takeFields((text, { field_name }) => text.trim().toLowerCase() === field_name);
  takeFields((text, { field_name }) => isCalled(text, field_name));
  const known = {
    first_name: own.first_name ?? takeNamed(otherNames.first_name),
    last_name: own.last_name ?? takeNamed(otherNames.last_name),
    status: own.status ?? takeNamed(otherNames.status),
    source: own.source,
  };
  takeFields((text, { field_label }) => isCalled(text, field_label));
  const custom = fields.flatMap((field) => {
    const column = columns.get(field);
    return column === undefined ? [] : [{ ...column, field }];
  });
  const left = header
    .map((text, place) => ({ place, header: shown(text) }))
    .filter(({ place }) => !taken.has(place));
  const skipped = left.filter(({ header }) => header !== "").slice(0, MOST_SKIPPED);
  const unnamed = left
    .filter(({ header }) => header === "")
    .slice(0, MOST_SKIPPED)
    .map(({ place }) => ({ place, header: `column ${place + 1}` }));
  return { ...known, email, width: header.length, headers: header.map(shown), custom, skipped, unnamed };
}

/** The column of an export that says when somebody joined is no field's. */
const isFree = (text: string) => text.trim() !== SUBSCRIBED_AT;

const MOST_SHOWN = 20;
const LONGEST_SHOWN = 100;

/** A header in a sentence or a result; neither NUL nor half a character can be stored. */
function shown(header: string): string {
  return header.trim().replaceAll("\0", "").slice(0, LONGEST_SHOWN).toWellFormed();
}
