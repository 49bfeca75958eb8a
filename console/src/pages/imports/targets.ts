/** What a column of a file can be for, in the words of `mapping`. */
import type { Schema } from "@posthaste/client";
import type { Option } from "../../parts/choice.tsx";

/** Not a field: the column is not read. */
export const NOTHING = "";
/** Not a field: opens the dialog that makes one. */
export const NEW_FIELD = "new";
export const EMAIL = "email";

const ofPeople: readonly Option[] = [
  { id: EMAIL, name: "Email address" },
  { id: "first_name", name: "First name" },
  { id: "last_name", name: "Last name" },
  { id: "source", name: "Source" },
];

/** There may be several of these; the worst counts. */
const ofMail: readonly Option[] = [
  { id: "status", name: "Status", description: "A word, such as unsubscribed" },
  { id: "opted_out", name: "Opted out", description: "Yes, or a time: gets no mail" },
  { id: "opted_in", name: "Opted in", description: "No: gets no mail" },
  { id: "bounced", name: "Bounced", description: "Yes, or a time: gets no mail" },
  { id: "complained", name: "Complained", description: "Yes, or a time: gets no mail" },
];

const repeatable: ReadonlySet<string> = new Set([NOTHING, ...ofMail.map(({ id }) => id)]);

export function mayRepeat(target: string): boolean {
  return repeatable.has(target);
}

export function targetOf({ field_name }: Pick<Schema<"CustomField">, "field_name">): string {
  return `custom_fields.${field_name}`;
}

export function targetsOf(fields: readonly Schema<"CustomField">[], mayMake: boolean): readonly Option[] {
  return [
    { id: NOTHING, name: "Not imported" },
    ...ofPeople,
    ...fields.map((field) => ({
      id: targetOf(field),
      name: field.field_label,
      description: `Custom field, ${field.field_type}`,
    })),
    ...(mayMake ? [{ id: NEW_FIELD, name: "A new field …" }] : []),
    ...ofMail,
  ];
}

/** The target of each column by its position: as chosen, or as suggested. */
export function targetsOfColumns(
  columns: readonly Schema<"ImportFileColumn">[],
  chosen: ReadonlyMap<number, string>,
): ReadonlyMap<number, string> {
  return new Map(
    columns.map(({ position, suggested_field }) => [
      position,
      chosen.get(position) ?? suggested_field ?? NOTHING,
    ]),
  );
}
