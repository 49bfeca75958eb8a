/**
 * The filters and orders of lists of people, besides status, list and search: query parameters of GET /subscribers, and
 * the same fields in the filter of bulk actions.
 */

import { readBoolean } from "#audience/custom-fields/field-types.ts";
import { findUnknownNames } from "#audience/custom-fields/find-unknown-names.ts";
import { listFieldNames, listTypesOf } from "#audience/custom-fields/store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { invalid } from "#platform/errors.ts";
import { KnownNames } from "#platform/http/request/name-suggestions.ts";
import { flagField, textField, timeField } from "#platform/http/request/query.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** What to filter by, as callers give it. */
export interface PersonCriteria {
  readonly joined_from?: Date | undefined;
  readonly joined_to?: Date | undefined;
  readonly opened_since?: Date | undefined;
  readonly never_opened?: boolean | undefined;
  readonly clicked_since?: Date | undefined;
  readonly never_clicked?: boolean | undefined;
  readonly field?: string | undefined;
  readonly field_value?: string | undefined;
}

/** Descriptions of the criteria, for the query and for bodies. */
export const criteriaWords = {
  joined_from: "Only those who joined at or after this time: the workspace, or with list_id that list.",
  joined_to: "Only those who joined before this time.",
  opened_since: "Only those who opened or clicked a message at or after this time.",
  never_opened: "Only those who never opened or clicked a message.",
  clicked_since: "Only those who clicked a link at or after this time.",
  never_clicked: "Only those who never clicked a link.",
  field:
    "Name of a custom field, which a list or all lists have, or of which a person has a value; needs field_value. Other names are refused.",
  field_value:
    "Only those whose custom field has this value, in the spelling that is stored. For a multiselect: those who have it among their choices.",
} as const satisfies Record<keyof PersonCriteria, string>;

const LONGEST_FIELD = 100;
const LONGEST_VALUE = 500;

export const criteriaFields = {
  joined_from: timeField(criteriaWords.joined_from),
  joined_to: timeField(criteriaWords.joined_to),
  opened_since: timeField(criteriaWords.opened_since),
  never_opened: flagField(false, criteriaWords.never_opened, true),
  clicked_since: timeField(criteriaWords.clicked_since),
  never_clicked: flagField(false, criteriaWords.never_clicked, true),
  field: textField(LONGEST_FIELD, criteriaWords.field),
  field_value: textField(LONGEST_VALUE, criteriaWords.field_value),
};

/** The criteria with the custom field resolved. */
export interface PersonFilter {
  readonly joinedFrom: Date | null;
  readonly joinedTo: Date | null;
  readonly openedSince: Date | null;
  readonly neverOpened: boolean;
  readonly clickedSince: Date | null;
  readonly neverClicked: boolean;
  /** Parts of custom_fields as JSON, of which a person has one. Null: any value. */
  readonly fieldParts: readonly string[] | null;
}

/**
 * @param path of the object that has the criteria in a body, such as `filter.`; empty for a query
 * @throws ApiError VALIDATION_ERROR for criteria that contradict each other, and for a field that nothing in the workspace has
 */
export async function readPersonFilter(
  db: Queryable,
  workspaceId: WorkspaceId,
  given: PersonCriteria,
  path = "",
): Promise<PersonFilter> {
  const { joined_from, joined_to, opened_since, clicked_since, field, field_value } = given;
  const { never_opened = false, never_clicked = false } = given;
  if (joined_from !== undefined && joined_to !== undefined && joined_from >= joined_to) {
    const name = `${path}joined_to`;
    throw invalid({ field: name, message: `${name} must be after ${path}joined_from` });
  }
  if (opened_since !== undefined && never_opened) {
    throw contradiction(`${path}never_opened`, `${path}opened_since`);
  }
  if (clicked_since !== undefined && never_clicked) {
    throw contradiction(`${path}never_clicked`, `${path}clicked_since`);
  }
  if ((field === undefined) !== (field_value === undefined)) {
    const missing = `${path}${field === undefined ? "field" : "field_value"}`;
    throw invalid({
      field: missing,
      message: `${missing} is required: field and field_value belong together`,
    });
  }
  if (field !== undefined) await requireKnownField(db, workspaceId, field, `${path}field`);
  return {
    joinedFrom: joined_from ?? null,
    joinedTo: joined_to ?? null,
    openedSince: opened_since ?? null,
    neverOpened: never_opened,
    clickedSince: clicked_since ?? null,
    neverClicked: never_clicked,
    fieldParts:
      field === undefined || field_value === undefined
        ? null
        : await partsOf(db, workspaceId, field, field_value),
  };
}

/** @throws ApiError VALIDATION_ERROR for a name that is probably misspelled, and would match no one */
async function requireKnownField(
  db: Queryable,
  workspaceId: WorkspaceId,
  name: string,
  parameter: string,
): Promise<void> {
  if ((await findUnknownNames(db, workspaceId, [name])).length === 0) return;
  const meant = new KnownNames(await listFieldNames(db, workspaceId)).nearestTo(name);
  const hint = meant === undefined ? "" : ` Did you mean ${meant}?`;
  throw invalid({
    field: parameter,
    message: `${parameter} is no custom field: no list defines "${name}", and no person has a value of it.${hint} GET /mailing-lists/{id}/custom-fields and GET /custom-fields/global have the names`,
  });
}

function contradiction(field: string, other: string) {
  return invalid({ field, message: `${field} and ${other} exclude each other: give one of them` });
}

export function isUnfiltered(filter: PersonFilter): boolean {
  return Object.values(filter).every((value) => value === null || value === false);
}

/**
 * The JSON that a person with the value has, for every type that a field of this name has on any list. A value of an
 * earlier type, or of a name without a definition, is a text.
 */
async function partsOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  name: string,
  value: string,
): Promise<string[]> {
  const types = await listTypesOf(db, workspaceId, name);
  const number = Number(value);
  const boolean = readBoolean(value);
  const values = [
    value,
    ...(types.includes("number") && Number.isFinite(number) ? [number] : []),
    ...(types.includes("boolean") && boolean.ok ? [boolean.value] : []),
    ...(types.includes("multiselect") ? [[value]] : []),
  ];
  return values.map((one) => JSON.stringify({ [name]: one }));
}

/** The orders of lists of people. Ids decide between people with the same value. */
export const personOrders = [
  "-created_at",
  "created_at",
  "email",
  "-email",
  "-last_opened_at",
  "-last_clicked_at",
] as const;
export type PersonOrder = (typeof personOrders)[number];
