/** The custom field that the workspace names as that of the recipients' language. */
import type { FieldUse } from "#audience/segments/refuse-used-field-changes.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { invalid } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { workspaceSettings } from "#workspace/workspaces/permission.ts";
import { listLanguageFieldUses, lockTypesInForce } from "./store.ts";

/** Types whose values can be tags of languages. */
const fitting: readonly string[] = ["text", "textarea", "select"];

export const usedByWorkspace: FieldUse = {
  kind: "workspace",
  noun: workspaceSettings,
  what: "The settings of the workspace",
  remedy: "change its language_field",
  needsType: true,
  list: listLanguageFieldUses,
};

/**
 * A name that no field has would leave every recipient without a language of their own, and so would a field of numbers. Keeps
 * fields of this name from being changed until the transaction ends.
 * @throws ApiError VALIDATION_ERROR
 */
export async function requireLanguageField(
  tx: Queryable,
  workspaceId: WorkspaceId,
  name: string,
): Promise<void> {
  const types = await lockTypesInForce(tx, workspaceId, name);
  if (types.some((type) => fitting.includes(type))) return;
  const [type] = types;
  const message =
    type === undefined
      ? `no custom field is called ${name}: add the field first`
      : `${name} has the type ${type}: name a field of type ${fitting.join(", ").replace(/, (?=\w+$)/, " or ")}`;
  throw invalid({ field: "language_field", message: `language_field: ${message}` });
}
