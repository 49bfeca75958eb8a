/** Roles over HTTP: the built-in ones, and those that a workspace makes of permissions. */
import { Type } from "typebox";
import type { Clock } from "#platform/clock.ts";
import { requireBelowRowLimit } from "#platform/database/row-limit-store.ts";
import { ApiError, required } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { newId } from "#platform/ids.ts";
import { Deleted } from "#platform/shapes.ts";
import {
  catalogueOf,
  type PermissionCatalogue,
  readPermissions,
} from "#workspace/api-keys/permission-catalogue.ts";
import { builtInRoles } from "#workspace/people/built-in-roles.ts";
import { readName } from "#workspace/read-display-name.ts";
import { changeTeam, type TeamChangeDeps } from "#workspace/team/change-team.ts";
import { lockAuthority, requireMayGrant } from "#workspace/team/escalation.ts";
import { rolesResource } from "#workspace/team/permission.ts";
import { grantedRoleOfOwn } from "./read-role.ts";
import { NewRole, permissionsInWords, RoleChanges, RoleShape } from "./role.ts";
import {
  countHolders,
  findOwnRole,
  hasRoleNamed,
  insertRole,
  listOwnRoles,
  lockOwnRole,
  type OwnRole,
  removeRole,
  roleRoom,
  updateOwnRole,
  usesOfRole,
} from "./store.ts";

interface RoleDeps extends TeamChangeDeps {
  readonly clock: Clock;
  /** All endpoints of the API, from which the catalogue is derived. */
  readonly endpoints: () => readonly Endpoint[];
}

export function roleEndpoints(deps: RoleDeps): Endpoint[] {
  const { db, clock, endpoints } = deps;
  const catalogue = () => catalogueOf(endpoints());

  return [
    endpoint({
      id: "listRoles",
      method: "GET",
      path: "/roles",
      summary: "Roles: the built-in ones, then those of the workspace by name",
      description:
        "Built-in roles come with the program and cannot be changed. Each role lists its permissions.",
      needs: need(rolesResource, "read"),
      answer: Type.Array(RoleShape),
      message: "Roles",
      async handle({ caller: { workspaceId } }) {
        const own = await listOwnRoles(db, workspaceId);
        const holders = await countHolders(db, workspaceId);
        const known = catalogue();
        return [...builtInRoles.values()]
          .map(({ key, name, description, permissions }) => ({
            id: key as string,
            name,
            description,
            permissions: [...permissions],
            permissions_in_words: permissionsInWords(permissions, known),
            is_built_in: true,
            teammate_count: holders.get(key) ?? 0,
            created_at: null as Date | null,
          }))
          .concat(own.map((role) => shownRole(role, known, holders.get(role.id) ?? 0)));
      },
    }),
    endpoint({
      id: "getRole",
      method: "GET",
      path: "/roles/{id}",
      summary: "One role of the workspace",
      description: "Name, description and permissions of a role that the workspace has made.",
      needs: need(rolesResource, "read"),
      answer: RoleShape,
      message: "Role",
      async handle({ caller: { workspaceId }, params }) {
        const role = required(await findOwnRole(db, workspaceId, params.id), "Role");
        const { members } = await usesOfRole(db, workspaceId, role.id);
        return shownRole(role, catalogue(), members);
      },
    }),
    endpoint({
      id: "createRole",
      method: "POST",
      path: "/roles",
      summary: "Make a role of permissions that you hold",
      description:
        "A role holds permissions of the catalogue (`listPermissions`). A caller can only put into it what it holds itself. Names are unique in the workspace, without regard to case.",
      needs: need(rolesResource, "write"),
      confirmed: true,
      body: NewRole,
      answer: RoleShape,
      status: 201,
      message: "Role created",
      errors: ["BAD_REQUEST", "CONFLICT"],
      handle({ caller, body }) {
        const known = catalogue();
        const role: OwnRole = {
          id: newId(),
          name: readRoleName(body.name),
          description: body.description?.trim() ?? "",
          permissions: readPermissions(body.permissions, known),
          created_at: clock.now(),
        };
        return changeTeam(deps, caller.workspaceId, async (tx) => {
          const authority = await lockAuthority(tx, caller, clock.now());
          requireMayGrant(authority, grantedRoleOfOwn(role));
          await requireBelowRowLimit(tx, caller.workspaceId, roleRoom);
          if (await hasRoleNamed(tx, caller.workspaceId, role)) throw sameName();
          await insertRole(tx, caller.workspaceId, role);
          return shownRole(role, known, 0);
        });
      },
    }),
    endpoint({
      id: "updateRole",
      method: "PATCH",
      path: "/roles/{id}",
      summary: "Change name, description or permissions of a role; omitted fields stay",
      description:
        "The change holds for all members with the role from their next request. A caller must hold the permissions that the role has before and after.",
      needs: need(rolesResource, "write"),
      confirmed: true,
      body: RoleChanges,
      answer: RoleShape,
      message: "Role updated; its teammates have the new permissions at once",
      errors: ["CONFLICT"],
      handle({ caller, params, body }) {
        const known = catalogue();
        const changes = {
          ...(body.name !== undefined && { name: readRoleName(body.name) }),
          ...(body.description !== undefined && { description: body.description.trim() }),
          ...(body.permissions !== undefined && { permissions: readPermissions(body.permissions, known) }),
        };
        return changeTeam(deps, caller.workspaceId, async (tx) => {
          const role = required(await lockOwnRole(tx, caller.workspaceId, params.id), "Role");
          const changed = { ...role, ...changes };
          const authority = await lockAuthority(tx, caller, clock.now());
          requireMayGrant(authority, grantedRoleOfOwn(role), grantedRoleOfOwn(changed));
          if (changed.name !== role.name && (await hasRoleNamed(tx, caller.workspaceId, changed)))
            throw sameName();
          await updateOwnRole(tx, caller.workspaceId, changed);
          const { members } = await usesOfRole(tx, caller.workspaceId, role.id);
          return shownRole(changed, known, members);
        });
      },
    }),
    endpoint({
      id: "deleteRole",
      method: "DELETE",
      path: "/roles/{id}",
      summary: "Delete a role that no teammate holds",
      description:
        "409 while a teammate or an invitation has the role, also an invitation that has expired: give the teammates another role, and revoke the invitations.",
      needs: need(rolesResource, "write"),
      confirmed: true,
      answer: Deleted,
      message: "Role deleted",
      errors: ["CONFLICT"],
      handle({ caller, params }) {
        return changeTeam(deps, caller.workspaceId, async (tx) => {
          const role = required(await lockOwnRole(tx, caller.workspaceId, params.id), "Role");
          const authority = await lockAuthority(tx, caller, clock.now());
          requireMayGrant(authority, grantedRoleOfOwn(role));
          const { members, invitations } = await usesOfRole(tx, caller.workspaceId, role.id);
          if (members + invitations > 0) {
            throw new ApiError(
              "CONFLICT",
              `The role is held by ${members} teammates and ${invitations} invitations: give the teammates another role and revoke the invitations first`,
            );
          }
          await removeRole(tx, caller.workspaceId, role.id);
          return { id: role.id, deleted: true } as const;
        });
      },
    }),
  ];
}

function shownRole(role: OwnRole, known: PermissionCatalogue, holders: number) {
  return {
    ...role,
    permissions: [...role.permissions],
    permissions_in_words: permissionsInWords(role.permissions, known),
    is_built_in: false,
    teammate_count: holders,
  };
}

const builtInNames = new Set([...builtInRoles.values()].map(({ name }) => name.toLowerCase()));

/** @throws ApiError VALIDATION_ERROR, CONFLICT for the name of a built-in role */
function readRoleName(given: string): string {
  const name = readName(given);
  if (builtInNames.has(name.toLowerCase())) throw sameName();
  return name;
}

function sameName(): ApiError {
  return new ApiError("CONFLICT", "There is a role with this name already");
}
