/** What segments use cannot be taken from under them: their rules would silently come to mean something else. */
import type { Queryable } from "../../platform/database/pool.ts";
import { ApiError } from "../../platform/errors.ts";
import type { WorkspaceId } from "../../platform/ids.ts";
import type { CustomField } from "../custom-fields/field.ts";
import { CUSTOM } from "./bind.ts";
import { builtInFields } from "./fields.ts";
import { listNamesWithField, listNamesWithList } from "./store.ts";

const MOST_NAMED = 3;

/** @throws ApiError CONFLICT while segments have rules on a field */
export async function requireFieldUnused(
  db: Queryable,
  workspaceId: WorkspaceId,
  { mailing_list_id, field_name }: Pick<CustomField, "mailing_list_id" | "field_name">,
): Promise<void> {
  const marked = `${CUSTOM}${field_name}`;
  const spellings = builtInFields.has(field_name) ? [marked] : [marked, field_name];
  refuse(await listNamesWithField(db, workspaceId, mailing_list_id, field_name, spellings), "field");
}

/** @throws ApiError CONFLICT while segments of other lists refer to a list, or to one of its segments */
export async function requireListUnused(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<void> {
  refuse(await listNamesWithList(db, workspaceId, mailingListId), "mailing list, or a segment of it");
}

function refuse(names: readonly string[], what: string): void {
  if (names.length === 0) return;
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
  const some = names.slice(0, MOST_NAMED).map((name) => `"${name}"`);
  throw new ApiError("CONFLICT", `Segments use this ${what}: ${some.join(", ")}${more}; change them first`);
}
