/** Endpoints of custom fields: those of a list, and the global ones that every list has. */

import { Type } from "typebox";
import { usedByWorkspace } from "#audience/languages/used-by-workspace.ts";
import { lockMailingList, requireMailingList } from "#audience/mailing-lists/store.ts";
import { findDefinition } from "#audience/segments/conditions/load-references-store.ts";
import {
  type FieldUse,
  fieldInRules,
  requireFieldUnused,
  requireMeaningKept,
  usedBySegments,
} from "#audience/segments/refuse-used-field-changes.ts";
import { lockReferences } from "#audience/segments/store.ts";
import { convertValues } from "#audience/subscribers/convert-field-values.ts";
import { findUsers } from "#audience/uses/used-by.ts";
import { describeAudit } from "#platform/audit/pending-event.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { requireBelowRowLimit } from "#platform/database/row-limit-store.ts";
import { ApiError, invalid, required } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { type Endpoint, endpoint, need, type Resource } from "#platform/http/endpoint.ts";
import { isEmptyChange } from "#platform/http/request/known-fields.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { Deleted } from "#platform/shapes.ts";
import { CustomField, CustomFieldChanges, CustomFieldInUse, NewCustomField } from "./custom-field.ts";
import { normalizeFieldName, readFieldName } from "./field-name.ts";
import { type FieldSettings, readDefinition } from "./read-definition.ts";
import {
  customFieldRoom,
  type FieldScope,
  insertField,
  listFields,
  lockField,
  removeField,
  updateField,
} from "./store.ts";

const customFields: Resource = { name: "custom_fields", label: "Custom fields", group: "Audience" };

const plain: Omit<FieldSettings, "field_label" | "field_type"> = {
  field_options: null,
  placeholder: null,
  default_value: null,
  help_text: null,
  validation_rules: null,
  is_required: false,
  is_active: true,
  display_order: null,
};

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
  /** Other users of custom fields, which keep a field from being deleted or changed. */
  readonly uses: readonly FieldUse[];
}

export function customFieldEndpoints(deps: Dependencies): Endpoint[] {
  const { db } = deps;
  const changeErrors = ["CONFLICT"] as const;
  return [
    endpoint({
      id: "listCustomFields",
      method: "GET",
      path: "/mailing-lists/{id}/custom-fields",
      summary: "The list's own custom fields in display order",
      description:
        "Only the fields that belong to this list; `GET /custom-fields/global` has those of every list. A list's own field takes precedence over a global one of the same name.",
      needs: need(customFields, "read"),
      answer: Type.Array(CustomFieldInUse),
      message: "Custom fields",
      async handle({ caller, params }) {
        await requireMailingList(db, caller.workspaceId, params.id);
        return listWithUses(deps, caller, params.id);
      },
    }),
    endpoint({
      id: "createCustomField",
      method: "POST",
      path: "/mailing-lists/{id}/custom-fields",
      summary: "Add a custom field to a list",
      description:
        "Values that people already have under the name are checked against the type by the rules of the type. `field_name` is the name in merge tags, segments and imports, and cannot change later.",
      needs: need(customFields, "write"),
      body: NewCustomField,
      answer: CustomField,
      status: 201,
      message: "Custom field created",
      errors: ["CONFLICT", "BAD_REQUEST"],
      handle: ({ caller, params, body }) => createField(deps, caller, params.id, body),
    }),
    endpoint({
      id: "updateCustomField",
      method: "PUT",
      path: "/mailing-lists/{id}/custom-fields/{field_id}",
      summary: "Change a custom field of a list; omitted fields stay, the name cannot change",
      description:
        "A new `field_type` converts the stored values and is refused (409) while a segment or an unfinished campaign uses the field, or the workspace names it as its `language_field`; so is `is_active: false` for the last. The name cannot change: add another field instead.",
      needs: need(customFields, "write"),
      body: CustomFieldChanges,
      answer: CustomField,
      message: "Custom field updated",
      errors: changeErrors,
      handle: ({ caller, params, body }) => changeField(deps, caller, params.id, params.field_id, body),
    }),
    endpoint({
      id: "deleteCustomField",
      method: "DELETE",
      path: "/mailing-lists/{id}/custom-fields/{field_id}",
      mayTakeLong: "reading",
      summary: "Delete a custom field of a list; stored values of subscribers stay",
      description:
        "Refused (409) while a segment, an autoresponder or an unfinished campaign uses it, or the workspace names it as its `language_field`. The values that people have stay stored, and come back if a field of this name is added again.",
      needs: need(customFields, "write"),
      answer: Deleted,
      message: "Custom field deleted",
      errors: ["CONFLICT"],
      handle: ({ caller, params }) => deleteField(deps, caller.workspaceId, params.id, params.field_id),
    }),
    endpoint({
      id: "listGlobalCustomFields",
      method: "GET",
      path: "/custom-fields/global",
      summary: "The custom fields of every list, in display order",
      description: "The fields that people have on every list of the workspace.",
      needs: need(customFields, "read"),
      answer: Type.Array(CustomFieldInUse),
      message: "Global custom fields",
      handle: ({ caller }) => listWithUses(deps, caller, null),
    }),
    endpoint({
      id: "createGlobalCustomField",
      method: "POST",
      path: "/custom-fields/global",
      summary: "Add a custom field to every list; a list's own field of the same name takes precedence",
      description:
        "Use it for what belongs to the person whatever the list, such as a customer number. `field_name` is the name in merge tags, segments and imports, and cannot change later.",
      needs: need(customFields, "write"),
      body: NewCustomField,
      answer: CustomField,
      status: 201,
      message: "Global custom field created",
      errors: ["CONFLICT", "BAD_REQUEST"],
      handle: ({ caller, body }) => createField(deps, caller, null, body),
    }),
    endpoint({
      id: "updateGlobalCustomField",
      method: "PUT",
      path: "/custom-fields/global/{field_id}",
      summary: "Change a global custom field; omitted fields stay, the name cannot change",
      description:
        "A new `field_type` converts the stored values and is refused (409) while a segment or an unfinished campaign uses the field, or the workspace names it as its `language_field`; so is `is_active: false` for the last. The name cannot change: add another field instead.",
      needs: need(customFields, "write"),
      body: CustomFieldChanges,
      answer: CustomField,
      message: "Global custom field updated",
      errors: changeErrors,
      handle: ({ caller, params, body }) => changeField(deps, caller, null, params.field_id, body),
    }),
    endpoint({
      id: "deleteGlobalCustomField",
      method: "DELETE",
      path: "/custom-fields/global/{field_id}",
      mayTakeLong: "reading",
      summary: "Delete a global custom field; stored values of subscribers stay",
      description:
        "Refused (409) while a segment, an autoresponder or an unfinished campaign uses it, or the workspace names it as its `language_field`. The values that people have stay stored, and come back if a field of this name is added again.",
      needs: need(customFields, "write"),
      answer: Deleted,
      message: "Global custom field deleted",
      errors: ["CONFLICT"],
      handle: ({ caller, params }) => deleteField(deps, caller.workspaceId, null, params.field_id),
    }),
  ];
}

async function listWithUses({ db, uses }: Dependencies, caller: Caller, scope: FieldScope) {
  const { workspaceId, permissions } = caller;
  const fields = await listFields(db, workspaceId, scope);
  const named = fields.map(fieldInRules);
  const used = await findUsers(db, workspaceId, permissions, named, [usedBySegments, ...uses]);
  return fields.map((field) => ({ ...field, used_by: used(field.id) }));
}

async function createField(
  { db, clock, uses }: Dependencies,
  { workspaceId, timezone }: Caller,
  scope: FieldScope,
  body: NewCustomField,
): Promise<CustomField> {
  const field_name = readFieldName(body.field_name);
  const { field_label, field_type } = body;
  const settings = readDefinition({ ...plain, field_label, field_type }, body, timezone);
  return db.transaction(async (tx) => {
    if (scope !== null) await lockMailingList(tx, workspaceId, scope);
    await lockReferences(tx, workspaceId);
    await requireBelowRowLimit(tx, workspaceId, customFieldRoom(scope));
    const before = await findDefinition(tx, workspaceId, scope, field_name);
    const field = { ...settings, id: newId(), mailing_list_id: scope, field_name };
    const inserted = await insertField(tx, workspaceId, field, clock.now());
    if (inserted === undefined) throw new ApiError("CONFLICT", `There is a field ${field_name} already`);
    await requireMeaningKept(tx, workspaceId, before, inserted, uses);
    return inserted;
  });
}

function changeField(
  { db, clock, uses }: Dependencies,
  { workspaceId, timezone }: Caller,
  scope: FieldScope,
  id: string,
  body: CustomFieldChanges,
): Promise<CustomField> {
  return db.transaction(async (tx) => {
    const held = required(await lockField(tx, workspaceId, scope, id), "Custom field");
    if (isEmptyChange(CustomFieldChanges, body)) return held;
    describeAudit({ before: held });
    if (body.field_name !== undefined && normalizeFieldName(body.field_name) !== held.field_name) {
      throw invalid({ field: "field_name", message: "field_name cannot change; add another field instead" });
    }
    const settings = readDefinition(
      body.field_type === undefined ? held : { ...held, ...retyped(held, body) },
      body,
      timezone,
    );
    if (settings.field_type !== held.field_type) {
      const bound = uses.filter(({ needsType }) => needsType);
      await requireFieldUnused(tx, workspaceId, held, bound);
      await convertValues(tx, workspaceId, held, settings, clock.now());
    }
    if (held.is_active && !settings.is_active) {
      await requireFieldUnused(tx, workspaceId, held, [usedByWorkspace]);
    }
    const changed = await updateField(tx, workspaceId, id, settings, clock.now());
    if (changed === undefined) throw new Error(`custom field ${id} is gone although it is locked`);
    return changed;
  });
}

/** Rules and default belong to the old type: with a new type they are given again or removed. */
function retyped(held: CustomField, { field_type }: CustomFieldChanges): Partial<FieldSettings> {
  return field_type === held.field_type ? {} : { validation_rules: null, default_value: null };
}

async function deleteField(
  { db, uses }: Dependencies,
  workspaceId: WorkspaceId,
  scope: FieldScope,
  id: string,
) {
  await db.transaction(async (tx) => {
    await lockReferences(tx, workspaceId);
    const held = required(await lockField(tx, workspaceId, scope, id), "Custom field");
    await requireFieldUnused(tx, workspaceId, held, [usedBySegments, ...uses]);
    describeAudit({ resource: { id, name: held.field_label } });
    await removeField(tx, workspaceId, id);
  });
  return { id, deleted: true } as const;
}
