/** Workspaces over HTTP: those of a person, and the settings of the one that the caller uses. */

import { Type } from "typebox";
import { describeAudit } from "#platform/audit/pending-event.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { ApiError, required } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { isEmptyChange } from "#platform/http/request/known-fields.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { Id, Timestamp } from "#platform/shapes.ts";
import { planNameOf } from "#workspace/billing/plan-of-account.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import { listSubscriptions } from "#workspace/billing/subscription-store.ts";
import { changeWorkspaceIn } from "#workspace/change-workspace.ts";
import { createWorkspaceWithoutKey } from "#workspace/create-workspace.ts";
import { RoleField, roleValueOf } from "#workspace/people/granted-role.ts";
import { insertWorkspaceMember, listWorkspacesOf, MOST_WORKSPACES } from "#workspace/people/members-store.ts";
import { readName } from "#workspace/read-display-name.ts";
import {
  NewWorkspaceShape,
  readWorkspaceSettings,
  shownWorkspace,
  WorkspaceSettings,
  WorkspaceShape,
} from "#workspace/workspace-shape.ts";
import { workspaceSettings } from "./permission.ts";
import { findWorkspace } from "./store.ts";
import { readTimezone, type Workspace } from "./workspace.ts";

const OwnWorkspace = Type.Object(
  {
    id: Type.Unsafe<string>({ ...Id, description: "For the X-Workspace header." }),
    name: Type.String({ description: "Its name." }),
    timezone: Type.String({ description: "IANA time zone." }),
    role: RoleField,
    role_name: Type.String({ description: "Name of your role." }),
    is_suspended: Type.Boolean({ description: "Whether the operator has suspended it." }),
    requires_second_factor: Type.Boolean({
      description: "Whether it admits only sessions with a second factor.",
    }),
    joined_at: Type.Unsafe<Date>({ ...Timestamp, description: "When you became a member." }),
  },
  { $id: "OwnWorkspace" },
);

export interface WorkspaceDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly plans: Plans;
  /** Clears the authenticator's caches, which have settings of the workspace. */
  readonly forgetKeys: () => void;
  /** Refuses a custom field that cannot have the language of recipients. */
  readonly requireLanguageField: (tx: Queryable, workspaceId: WorkspaceId, name: string) => Promise<void>;
}

export function workspaceSettingsEndpoints(deps: WorkspaceDeps): Endpoint[] {
  const { db, clock, plans, forgetKeys, requireLanguageField } = deps;
  const shown = async (read: Queryable, workspace: Workspace) => {
    const subscriptions = await listSubscriptions(read, [workspace.id]);
    const subscription = subscriptions.get(workspace.id) ?? null;
    return shownWorkspace(workspace, planNameOf({ plan: workspace.plan, subscription }, clock.now()));
  };
  const current = async (workspaceId: WorkspaceId) =>
    shown(db, required(await findWorkspace(db, workspaceId), "Workspace"));

  return [
    endpoint({
      id: "listWorkspaces",
      method: "GET",
      path: "/workspaces",
      summary: `Your workspaces with your role in each, by name; at most ${MOST_WORKSPACES}`,
      description: "The workspaces that the person may name in `X-Workspace`, for a switch between them.",
      needs: "signed in",
      answer: Type.Array(OwnWorkspace),
      message: "Workspaces",
      async handle({ caller: { actor } }) {
        const rows = await listWorkspacesOf(db, actor.id);
        return rows.map((membership) => {
          const { builtInRole, roleId, roleName, permissions: _, ...row } = membership;
          return { ...row, role: roleValueOf({ builtInRole, roleId }), role_name: roleName };
        });
      },
    }),
    endpoint({
      id: "createWorkspace",
      method: "POST",
      path: "/workspaces",
      summary: "Create a workspace, and become its owner (operators)",
      description:
        "The workspace begins on the free plan unless another plan is named, without keys and with its creator as owner.",
      needs: "operator",
      confirmed: true,
      body: NewWorkspaceShape,
      answer: WorkspaceShape,
      status: 201,
      message: "Workspace created; you are its owner",
      handle({ caller: { actor }, body }) {
        const settings = {
          name: readName(body.name),
          timezone: readTimezone(body.timezone ?? "UTC"),
          plan: body.plan ?? "free",
        };
        const now = clock.now();
        return db.transaction(async (tx) => {
          const workspace = await createWorkspaceWithoutKey(tx, settings, now);
          const owner = { userId: actor.id, builtInRole: "owner", roleId: null };
          await insertWorkspaceMember(tx, workspace.id, owner, now);
          describeAudit({ workspaceId: workspace.id });
          return shown(tx, workspace);
        });
      },
    }),
    endpoint({
      id: "getWorkspace",
      method: "GET",
      path: "/workspace",
      summary: "The settings of the workspace",
      description: "Name, time zone, sender, notices, retries, tracking and caps of the workspace.",
      needs: need(workspaceSettings, "read"),
      answer: WorkspaceShape,
      message: "Workspace",
      handle: ({ caller }) => current(caller.workspaceId),
    }),
    endpoint({
      id: "updateWorkspace",
      method: "PATCH",
      path: "/workspace",
      summary: "Change settings of the workspace; omitted fields stay",
      description:
        "Changes hold for messages that are accepted from then on. Of the hourly caps of the workspace and of the operator, the lower one applies.",
      needs: need(workspaceSettings, "write"),
      confirmed: true,
      body: WorkspaceSettings,
      answer: WorkspaceShape,
      message: "Workspace updated",
      errors: ["CONFLICT"],
      async handle({ caller: { workspaceId, actor }, body }) {
        if (isEmptyChange(WorkspaceSettings, body)) return current(workspaceId);
        const changes = readWorkspaceSettings(body);
        if (changes.requires_second_factor && actor.kind === "person" && !actor.hasSecondFactor) {
          throw new ApiError(
            "CONFLICT",
            "Sign in with a second factor first: you would lock yourself out of the workspace",
          );
        }
        const changed = await db.transaction(async (tx) => {
          const { language_field: field = null } = changes;
          // The name that the workspace has may be sent back.
          if (field !== null && (await findWorkspace(tx, workspaceId))?.language_field !== field) {
            await requireLanguageField(tx, workspaceId, field);
          }
          return shown(tx, await changeWorkspaceIn(tx, workspaceId, changes, { clock, plans }));
        });
        forgetKeys();
        return changed;
      },
    }),
  ];
}
