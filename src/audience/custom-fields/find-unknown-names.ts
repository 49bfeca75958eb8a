/** Finds names that are no custom field: no list defines them, and no person has a value of them. */
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { hasMorePeople, listDefinedNames, listHeldNames } from "./field-elsewhere-store.ts";

/** A name is looked for among this many people first: one that is in use is found there. */
const FEW_PEOPLE = 1_000;
/**
 * Limit of people among whom a name is looked for. In a larger workspace, a name that is not found may still have
 * values, and counts as known.
 */
const MOST_PEOPLE = 200_000;

/** Those of the names that are probably misspelled: no list defines them, and no person has a value of them. */
export async function findUnknownNames(
  db: Queryable,
  workspaceId: WorkspaceId,
  names: readonly string[],
): Promise<string[]> {
  let open = [...new Set(names)];
  const drop = (known: readonly string[]) => {
    open = open.filter((name) => !known.includes(name));
  };
  if (open.length > 0) drop(await listDefinedNames(db, workspaceId, open));
  if (open.length > 0) drop(await listHeldNames(db, workspaceId, open, FEW_PEOPLE));
  if (open.length > 0) drop(await listHeldNames(db, workspaceId, open, MOST_PEOPLE));
  return open.length === 0 || (await hasMorePeople(db, workspaceId, MOST_PEOPLE)) ? [] : open;
}
