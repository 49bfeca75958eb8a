/** Shapes of suppression lists and their entries: as the API returns them, and as callers create and change them. */
import { type Static, Type } from "typebox";
import { type ApiError, type FieldFault, invalid } from "#platform/errors.ts";
import { isUuid } from "#platform/ids.ts";
import { CreatedAt, described, Id, nullable, UpdatedAt } from "#platform/shapes.ts";
import { nameAndDescription, readName } from "#workspace/read-display-name.ts";
import { entryTypes } from "./entry-value.ts";
import { suppressionReasons } from "./suppression-check.ts";

export const suppressionScopes = ["global", "mailing_list", "segment"] as const;
export type SuppressionScope = (typeof suppressionScopes)[number];

const settings = {
  ...nameAndDescription,
  suppression_scope: Type.Enum([...suppressionScopes], {
    description:
      "`global`: every message, transactional ones too. `mailing_list`: campaigns and autoresponders for that list. `segment`: campaigns to that segment.",
  }),
  mailing_list_id: nullable(
    Type.String({ description: "Required by the scope `mailing_list`, null in every other." }),
  ),
  segment_id: nullable(Type.String({ description: "Required by the scope `segment`, null in every other." })),
  is_active: Type.Boolean({ description: "An inactive list suppresses nothing." }),
};

export const SuppressionList = Type.Object(
  {
    id: described(Id, "Id of the suppression list."),
    ...settings,
    mailing_list_name: nullable(
      Type.String({ description: "Name of the mailing list that it is limited to; null if it is not." }),
    ),
    segment_name: nullable(
      Type.String({ description: "Name of the segment that it is limited to; null if it is not." }),
    ),
    is_system: Type.Boolean({
      description:
        "The list of bounces and complaints, managed by the service: it cannot be changed or deleted.",
    }),
    entry_count: Type.Integer({ description: "Number of entries." }),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  },
  { $id: "SuppressionList" },
);
export type SuppressionList = Static<typeof SuppressionList>;

export type SuppressionSettings = Pick<SuppressionList, keyof typeof settings>;

export const SuppressionListChanges = Type.Partial(Type.Object(settings), { $id: "SuppressionListChanges" });
export type SuppressionListChanges = Static<typeof SuppressionListChanges>;

export const NewSuppressionList = Type.Object(
  { ...SuppressionListChanges.properties, name: settings.name },
  { $id: "NewSuppressionList" },
);

export const SuppressionEntry = Type.Object(
  {
    id: described(Id, "Id of the entry."),
    entry_value: Type.String({ description: "As it was given." }),
    entry_type: Type.Enum([...entryTypes], { description: "A domain suppresses all its addresses." }),
    normalized_value: Type.String({ description: "What recipients are compared with." }),
    reason: Type.Enum([...suppressionReasons], { description: "Why the address or domain is on the list." }),
    source_message_id: nullable(
      Type.String({ format: "uuid", description: "The message that bounced or was complained about." }),
    ),
    created_at: CreatedAt,
    created_by: Type.String({ description: "Name of the API key, or `system`." }),
  },
  { $id: "SuppressionEntry" },
);
export type SuppressionEntry = Static<typeof SuppressionEntry>;

export const AddedEntries = Type.Object(
  {
    added: Type.Integer({ description: "Number of entries that were added." }),
    duplicates: Type.Integer({ description: "On the list already, or given more than once." }),
    invalid: Type.Integer({ description: "Neither an address nor a domain; the others were added." }),
    message: Type.String({ description: "The result in words, for people." }),
    warnings: Type.Optional(
      Type.Array(Type.String(), {
        description: "Warnings about how a file was read, such as a guessed encoding.",
      }),
    ),
  },
  { $id: "AddedEntries" },
);
export type AddedEntries = Static<typeof AddedEntries>;

export const SuppressionTest = Type.Object(
  {
    suppressed: Type.Boolean({ description: "Whether this list suppresses the value." }),
    test_value: Type.String({ description: "The address or domain that was checked." }),
    reason: nullable(
      Type.Enum([...suppressionReasons], { description: "Why it is suppressed; null if it is not." }),
    ),
    list_name: Type.String({ description: "Name of the list." }),
  },
  { $id: "SuppressionTest" },
);

const plain: Omit<SuppressionSettings, "name"> = {
  description: "",
  suppression_scope: "global",
  mailing_list_id: null,
  segment_id: null,
  is_active: true,
};

/**
 * The settings after a change; omitted ones stay. Does not check whether the mailing list or segment exists (store.ts
 * does).
 * @throws ApiError VALIDATION_ERROR
 */
export function readSuppressionListSettings(
  held: SuppressionSettings | undefined,
  given: SuppressionListChanges,
): SuppressionSettings {
  const wanted = { ...plain, name: "", ...held, ...given };
  const { suppression_scope, description, is_active } = wanted;
  return {
    name: readName(wanted.name),
    description,
    suppression_scope,
    mailing_list_id: suppression_scope === "mailing_list" ? readScopeId("mailing_list", wanted) : null,
    segment_id: suppression_scope === "segment" ? readScopeId("segment", wanted) : null,
    is_active,
  };
}

function readScopeId(scope: "mailing_list" | "segment", wanted: SuppressionSettings): string {
  const id = wanted[`${scope}_id`];
  if (id === null) throw invalid(scopeFault(scope, `is required when suppression_scope is ${scope}`));
  if (!isUuid(id)) throw unknownScope(scope);
  return id;
}

/** The refusal of an id that does not exist or belongs to another workspace. */
export function unknownScope(scope: "mailing_list" | "segment"): ApiError {
  return invalid(scopeFault(scope, `is no ${scope.replace("_", " ")} of this workspace`));
}

function scopeFault(scope: "mailing_list" | "segment", wrong: string): FieldFault {
  const field = `${scope}_id`;
  return { field, message: `${field} ${wrong}` };
}
