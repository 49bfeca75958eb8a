/** Teammates over HTTP: the people who are members of a workspace. escalation.ts limits who may change whom. */
import { type Static, Type } from "typebox";
import type { Clock } from "#platform/clock.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { required } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { asWorkspaceId, type WorkspaceId } from "#platform/ids.ts";
import { Deleted, Id, NullableTimestamp, Timestamp } from "#platform/shapes.ts";
import { RoleField, roleValueOf } from "#workspace/people/granted-role.ts";
import { removeWorkspaceMember, updateWorkspaceMember } from "#workspace/people/members-store.ts";
import { changeTeam, type TeamChangeDeps } from "./change-team.ts";
import { lockAuthority, requireMayGrant, requireOtherOwner } from "./escalation.ts";
import { removeInvitationsBy } from "./invitations/store.ts";
import { team } from "./permission.ts";
import { readRole } from "./roles/read-role.ts";
import { findTeammate, listTeammates, type TeammateRow } from "./teammate-store.ts";

const Teammate = Type.Object(
  {
    id: Type.Unsafe<string>({ ...Id, description: "Id of the person, the same in every workspace." }),
    name: Type.String({ description: "Their name." }),
    email: Type.String({ description: "The address that they sign in with." }),
    role: RoleField,
    role_name: Type.String({ description: "Name of the role." }),
    joined_at: Type.Unsafe<Date>({ ...Timestamp, description: "When they became a member." }),
    is_disabled: Type.Boolean({
      description:
        "Whether an operator of the installation has disabled the account: the person cannot sign in.",
    }),
    last_seen_at: Type.Unsafe<Date | null>({
      ...NullableTimestamp,
      description:
        "When they last worked in this workspace, to the hour, in UTC; null if they have not since it is recorded.",
    }),
  },
  { $id: "Teammate" },
);

const TeammateChanges = Type.Object({ role: RoleField }, { $id: "TeammateChanges" });

const shown = ({ role, ...row }: TeammateRow): Static<typeof Teammate> => ({
  ...row,
  role: roleValueOf(role),
  role_name: role.name,
});

export interface TeamDeps extends TeamChangeDeps {
  readonly clock: Clock;
  /** Called in the transaction that removes a teammate, with their name: what they sent keeps it. */
  readonly onTeammateRemoved: (
    tx: Queryable,
    workspaceId: WorkspaceId,
    person: { readonly id: string; readonly name: string },
  ) => Promise<void>;
}

export function teamEndpoints(deps: TeamDeps): Endpoint[] {
  const { db, clock, onTeammateRemoved } = deps;

  async function remove(tx: Queryable, workspaceId: WorkspaceId, { id, name }: TeammateRow): Promise<void> {
    await removeWorkspaceMember(tx, workspaceId, id);
    await removeInvitationsBy(tx, workspaceId, id);
    await onTeammateRemoved(tx, workspaceId, { id, name });
  }

  return [
    endpoint({
      id: "listTeammates",
      method: "GET",
      path: "/team",
      summary: "Teammates of the workspace, by name",
      description:
        "Each teammate has a role, the time of joining, and when they were last seen in the workspace.",
      needs: need(team, "read"),
      answer: Type.Array(Teammate),
      message: "Teammates",
      handle: async ({ caller }) => (await listTeammates(db, caller.workspaceId)).map(shown),
    }),
    endpoint({
      id: "getTeammate",
      method: "GET",
      path: "/team/{id}",
      summary: "One teammate",
      description: "Role, time of joining and last visit of one member of the workspace.",
      needs: need(team, "read"),
      answer: Teammate,
      message: "Teammate",
      handle: async ({ caller, params }) =>
        shown(required(await findTeammate(db, caller.workspaceId, params.id), "Teammate")),
    }),
    endpoint({
      id: "updateTeammate",
      method: "PATCH",
      path: "/team/{id}",
      summary: "Give a teammate another role",
      description:
        "A caller gives, changes and takes away only permissions that it holds itself. The last owner keeps the role. The new rights hold from the next request.",
      needs: need(team, "write"),
      confirmed: true,
      body: TeammateChanges,
      answer: Teammate,
      message: "Teammate updated; the new role applies at once",
      errors: ["CONFLICT"],
      handle({ caller, params, body }) {
        const { workspaceId } = caller;
        return changeTeam(deps, workspaceId, async (tx) => {
          const teammate = required(await findTeammate(tx, workspaceId, params.id, "locked"), "Teammate");
          const role = await readRole(tx, workspaceId, body.role);
          const authority = await lockAuthority(tx, caller, clock.now());
          requireMayGrant(authority, teammate.role, role);
          if (roleValueOf(role) === roleValueOf(teammate.role)) return shown(teammate);
          await requireOtherOwner(tx, workspaceId, teammate);
          const { builtInRole, roleId } = role;
          await updateWorkspaceMember(tx, workspaceId, { userId: teammate.id, builtInRole, roleId });
          // What the person has offered to others may be more than they have now.
          await removeInvitationsBy(tx, workspaceId, teammate.id);
          return shown({ ...teammate, role });
        });
      },
    }),
    endpoint({
      id: "removeTeammate",
      method: "DELETE",
      path: "/team/{id}",
      summary: "Remove a teammate from the workspace; what they sent keeps their name",
      description:
        "The person loses the workspace at the next request and keeps the account. The last owner cannot be removed.",
      needs: need(team, "write"),
      confirmed: true,
      answer: Deleted,
      message: "Teammate removed",
      errors: ["CONFLICT"],
      handle({ caller, params }) {
        const { workspaceId } = caller;
        return changeTeam(deps, workspaceId, async (tx) => {
          const teammate = required(await findTeammate(tx, workspaceId, params.id, "locked"), "Teammate");
          const authority = await lockAuthority(tx, caller, clock.now());
          requireMayGrant(authority, teammate.role);
          await requireOtherOwner(tx, workspaceId, teammate);
          await remove(tx, workspaceId, teammate);
          return { id: teammate.id, deleted: true } as const;
        });
      },
    }),
    endpoint({
      id: "leaveWorkspace",
      method: "POST",
      path: "/workspaces/{id}/leave",
      summary: "Leave a workspace; its last owner cannot",
      description: "The person loses the workspace at once and keeps the account.",
      needs: "signed in",
      confirmed: true,
      answer: Deleted,
      message: "You have left the workspace",
      errors: ["CONFLICT"],
      handle({ caller: { actor }, params }) {
        const workspaceId = asWorkspaceId(params.id);
        return changeTeam(deps, workspaceId, async (tx) => {
          const self = required(await findTeammate(tx, workspaceId, actor.id, "locked"), "Workspace");
          await requireOtherOwner(tx, workspaceId, self);
          await remove(tx, workspaceId, self);
          return { id: params.id, deleted: true } as const;
        });
      },
    }),
  ];
}
