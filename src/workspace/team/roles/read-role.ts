/** Reads the role that a request names. */
import type { Queryable } from "#platform/database/pool.ts";
import { invalid } from "#platform/errors.ts";
import { isUuid, type WorkspaceId } from "#platform/ids.ts";
import { builtInRoleKeys, builtInRoles } from "#workspace/people/built-in-roles.ts";
import { type GrantedRole, grantedRoleOf } from "#workspace/people/granted-role.ts";
import { lockOwnRole, type OwnRole } from "./store.ts";

export function grantedRoleOfOwn({ id, name, permissions }: OwnRole): GrantedRole {
  return grantedRoleOf({ builtInRole: null, roleId: id, ownRoleName: name, ownRolePermissions: permissions });
}

/**
 * A role of the workspace stays locked until the transaction ends.
 * @param given the word of a built-in role, or the id of a role of the workspace
 * @throws ApiError VALIDATION_ERROR
 */
export async function readRole(tx: Queryable, workspaceId: WorkspaceId, given: string): Promise<GrantedRole> {
  if (builtInRoles.has(given)) {
    return grantedRoleOf({ builtInRole: given, roleId: null, ownRoleName: null, ownRolePermissions: null });
  }
  const own = isUuid(given) ? await lockOwnRole(tx, workspaceId, given.toLowerCase()) : undefined;
  if (own !== undefined) return grantedRoleOfOwn(own);
  throw invalid({
    field: "role",
    message: `role must be ${builtInRoleKeys.join(", ")}, or the id of a role of this workspace (GET /roles lists them)`,
  });
}
