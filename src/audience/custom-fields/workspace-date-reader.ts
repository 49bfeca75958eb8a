/** The date reader for the custom fields of a workspace. */
import type { Queryable } from "#platform/database/pool.ts";
import { DateReader, type DateRules } from "#platform/dates/date-reader.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { findWorkspace } from "#workspace/workspaces/store.ts";
import type { CustomField } from "./custom-field.ts";

/** Uses the time zone of the workspace, which is looked up only if one of the fields is a date. */
export async function workspaceDates(
  db: Queryable,
  workspaceId: WorkspaceId,
  fields: readonly Pick<CustomField, "field_type">[],
  rules: Omit<DateRules, "timeZone"> = {},
): Promise<DateReader> {
  const hasDates = fields.some(({ field_type }) => field_type === "date");
  const workspace = hasDates ? await findWorkspace(db, workspaceId) : undefined;
  return new DateReader({ ...rules, timeZone: workspace?.timezone ?? "UTC" });
}
