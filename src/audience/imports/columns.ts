/** Which column of an import file is what: by its header, however that is spelled. */
import { columnKey, findColumn } from "../../platform/csv/columns.ts";
import { ApiError } from "../../platform/errors.ts";
import type { CustomField } from "../custom-fields/field.ts";
import { SUBSCRIBED_AT } from "../exports/row.ts";

/** Names of the columns that every list has, as columnKey gives them: our own, and those of others' exports. */
const names = {
  email: new Set(["email", "emailaddress", "mail", "mailaddress", "subscriberemail", "contactemail"]),
  first_name: new Set(["first", "firstname", "givenname", "forename", "fname"]),
  last_name: new Set(["last", "lastname", "surname", "familyname", "lname"]),
  status: new Set(["status", "subscriptionstatus", "subscriberstatus"]),
  source: new Set(["source"]),
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
  readonly custom: readonly (Column & { readonly field: CustomField })[];
  /** Headers of columns that are nothing we know, or a second one of something. */
  readonly skipped: readonly string[];
};

/**
 * Reads the header. Other columns are custom fields, found by their name or their label.
 * @param fields those in force on the list
 * @throws ApiError BAD_REQUEST without a column of addresses
 */
export function readColumns(header: readonly string[], fields: readonly CustomField[]): Columns {
  const taken = new Set<number>();
  const take = (place: number | undefined): Column | undefined => {
    if (place === undefined || taken.has(place)) return undefined;
    taken.add(place);
    return { place, header: shown(header[place] ?? "") };
  };
  const email = take(findColumn(header, names.email));
  if (email === undefined) {
    throw new ApiError(
      "BAD_REQUEST",
      `The first row has no column named Email; it has: ${header.slice(0, MOST_SHOWN).map(shown).join(", ")}`,
    );
  }
  const known = {
    first_name: take(findColumn(header, names.first_name)),
    last_name: take(findColumn(header, names.last_name)),
    status: take(findColumn(header, names.status)),
    source: take(findColumn(header, names.source)),
  };
  const custom = fields.flatMap((field) => {
    // Its name counts before its label, which another field may have for a name.
    for (const key of [columnKey(field.field_name), columnKey(field.field_label)]) {
      const column = take(findFree(header, key, taken));
      if (column !== undefined) return [{ ...column, field }];
    }
    return [];
  });
  const skipped = header.filter((text, place) => !taken.has(place) && text.trim() !== "").map(shown);
  return { ...known, email, width: header.length, custom, skipped: skipped.slice(0, MOST_SKIPPED) };
}

function findFree(header: readonly string[], key: string, taken: ReadonlySet<number>): number | undefined {
  if (key === "") return undefined;
  const place = header.findIndex(
    (text, at) => !taken.has(at) && text.trim() !== SUBSCRIBED_AT && columnKey(text) === key,
  );
  return place < 0 ? undefined : place;
}

const MOST_SHOWN = 20;
const MOST_SKIPPED = 200;
const LONGEST_SHOWN = 100;

/** A header in a sentence or a result; NUL cannot be stored. */
function shown(header: string): string {
  return header.trim().replaceAll("\0", "").slice(0, LONGEST_SHOWN);
}
