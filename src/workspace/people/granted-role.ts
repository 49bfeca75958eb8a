/** A role as a member or an invitation holds it: a built-in one, or one that the workspace has made. */
import { Type } from "typebox";
import { builtInRoleKeys, builtInRoles } from "./built-in-roles.ts";

/** The columns of a membership or an invitation that name a role; exactly one is set. */
export interface RoleReference {
  readonly builtInRole: string | null;
  readonly roleId: string | null;
}

export interface GrantedRole extends RoleReference {
  readonly name: string;
  readonly permissions: readonly string[];
}

export const RoleField = Type.String({
  minLength: 1,
  maxLength: 100,
  description: `The role: a built-in one (${builtInRoleKeys.join(", ")}), or the id of a role of the workspace.`,
});

/** The columns of a row with a role, as the stores select them. */
export interface RoleColumns extends RoleReference {
  readonly ownRoleName: string | null;
  readonly ownRolePermissions: readonly string[] | null;
}

/** A built-in role that this version does not know gives no permission. */
export function permissionsOfRole({
  builtInRole,
  ownRolePermissions,
}: Pick<RoleColumns, "builtInRole" | "ownRolePermissions">): readonly string[] {
  return builtInRole === null
    ? (ownRolePermissions ?? [])
    : (builtInRoles.get(builtInRole)?.permissions ?? []);
}

export function grantedRoleOf({ builtInRole, roleId, ownRoleName, ...own }: RoleColumns): GrantedRole {
  const builtIn = builtInRole === null ? undefined : builtInRoles.get(builtInRole);
  const name = builtIn?.name ?? ownRoleName ?? builtInRole ?? "";
  return { builtInRole, roleId, name, permissions: permissionsOfRole({ builtInRole, ...own }) };
}

/** The value of `role` in requests and answers. */
export function roleValueOf({ builtInRole, roleId }: RoleReference): string {
  return builtInRole ?? roleId ?? "";
}

export function isOwnerRole({ builtInRole }: RoleReference): boolean {
  return builtInRole === "owner";
}
