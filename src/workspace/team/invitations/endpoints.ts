/** Invitations over HTTP: a teammate offers a role to an address, whose owner accepts it with the token of the mail. */
import { type Static, Type } from "typebox";
import type { Queryable } from "#platform/database/pool.ts";
import { requireBelowRowLimit } from "#platform/database/row-limit-store.ts";
import { ApiError, required } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { refuseReached } from "#platform/limits/limit-errors.ts";
import { Deleted, Id, Timestamp } from "#platform/shapes.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { readPersonEmail } from "#workspace/people/create-user.ts";
import { RoleField, roleValueOf } from "#workspace/people/granted-role.ts";
import { newToken } from "#workspace/people/open-session.ts";
import { inTeamTransaction } from "#workspace/team/change-team.ts";
import { lockAuthority, requireMayGrant } from "#workspace/team/escalation.ts";
import { team } from "#workspace/team/permission.ts";
import { readRole } from "#workspace/team/roles/read-role.ts";
import { isTeammate } from "#workspace/team/teammate-store.ts";
import { findWorkspace } from "#workspace/workspaces/store.ts";
import { type AcceptDeps, acceptInvitation, endedInvitation } from "./accept-invitation.ts";
import { INVITATION_DAYS, invitationMail } from "./invitation-mail.ts";
import { inviterOf, requireInviterMayGrant } from "./inviter-authority.ts";
import {
  findInvitationByToken,
  type Invitation,
  insertInvitation,
  invitationRoom,
  listInvitations,
  lockInvitation,
  removeInvitation,
  updateInvitationToken,
} from "./store.ts";

const InvitationShape = Type.Object(
  {
    id: Id,
    email: Type.String({ description: "The address that is invited, in lower case." }),
    role: RoleField,
    role_name: Type.String({ description: "Name of the role." }),
    invited_by: Type.String({
      description: "Name of the person or API key that invited, or sent the invitation again last.",
    }),
    created_at: Type.Unsafe<Date>({ ...Timestamp, description: "When the person was invited first." }),
    sent_at: Type.Unsafe<Date>({
      ...Timestamp,
      description: "When the newest mail was accepted for sending.",
    }),
    expires_at: Type.Unsafe<Date>({ ...Timestamp, description: "When the newest link stops working." }),
    is_expired: Type.Boolean({
      description: "Whether the link has stopped working: resend it for a new one.",
    }),
  },
  { $id: "Invitation" },
);

const NewInvitation = Type.Object(
  {
    email: Type.String({
      minLength: 3,
      maxLength: 320,
      description: "A bare address: `name@example.com`.",
    }),
    role: RoleField,
  },
  { $id: "NewInvitation" },
);

const TokenField = Type.String({
  minLength: 1,
  maxLength: 200,
  description: "The token of the link in the mail: what follows the `#`.",
});

const InvitationPreview = Type.Object(
  {
    workspace_name: Type.String({ description: "Name of the workspace." }),
    email: Type.String({ description: "The address that is invited." }),
    role_name: Type.String({ description: "Name of the role." }),
    invited_by: Type.String({
      description: "Name of the person or API key that invited, or sent the invitation again last.",
    }),
    expires_at: Type.Unsafe<Date>({ ...Timestamp, description: "When the link stops working." }),
  },
  { $id: "InvitationPreview" },
);

const Acceptance = Type.Object(
  {
    token: TokenField,
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: "Name of a new person." })),
    password: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: "The password that a new person chooses." }),
    ),
  },
  { $id: "InvitationAcceptance" },
);

const Joined = Type.Object(
  {
    workspace_id: Type.Unsafe<string>({ ...Id, description: "The workspace, for the X-Workspace header." }),
    workspace_name: Type.String({ description: "Name of the workspace." }),
    user_id: Type.Unsafe<string>({ ...Id, description: "Id of the person." }),
    role: RoleField,
    role_name: Type.String({ description: "Name of the role." }),
  },
  { $id: "JoinedWorkspace" },
);

export interface InvitationDeps extends AcceptDeps {
  /** PUBLIC_URL, or the address that the service listens on; without a trailing slash. */
  readonly publicUrl: () => string;
}

export function invitationEndpoints(deps: InvitationDeps): Endpoint[] {
  const { db, clock } = deps;
  const now = () => clock.now();

  const shown = ({ id, email, role, inviter, created_at, sent_at, expires_at }: Invitation) => ({
    id,
    email,
    role: roleValueOf(role),
    role_name: role.name,
    invited_by: inviter.name,
    created_at,
    sent_at,
    expires_at,
    is_expired: expires_at <= now(),
  });

  async function send(tx: Queryable, workspaceId: WorkspaceId, email: string, token: string): Promise<void> {
    const workspace = required(await findWorkspace(tx, workspaceId), "Workspace");
    const link = `${deps.publicUrl()}/console/invitation#${token}`;
    const reached = await deps.sendInvitation(tx, workspaceId, invitationMail(email, workspace.name, link));
    refuseReached(reached, now());
  }

  return [
    endpoint({
      id: "listInvitations",
      method: "GET",
      path: "/team/invitations",
      summary: "Invitations that are not accepted yet, newest first",
      description: "An invitation ends after seven days, when it is accepted, or when it is revoked.",
      needs: need(team, "read"),
      answer: Type.Array(InvitationShape),
      message: "Invitations",
      handle: async ({ caller }) => (await listInvitations(db, caller.workspaceId)).map(shown),
    }),
    endpoint({
      id: "inviteTeammate",
      method: "POST",
      path: "/team/invitations",
      summary: "Invite a person to the workspace by mail, with a role that you may grant",
      description:
        "The mail has a link that works once, for seven days. The answer is the same whether or not the address has an account. 409 if the person is a member already.",
      needs: need(team, "write"),
      outward: "sends",
      confirmed: true,
      body: NewInvitation,
      answer: InvitationShape,
      status: 201,
      message: `Invitation sent; its link works for ${INVITATION_DAYS} days`,
      errors: ["BAD_REQUEST", "CONFLICT"],
      handle({ caller, body }) {
        const { workspaceId, actor } = caller;
        const email = readPersonEmail(body.email);
        return inTeamTransaction(db, workspaceId, async (tx) => {
          const role = await readRole(tx, workspaceId, body.role);
          requireMayGrant(await lockAuthority(tx, caller, now()), role);
          if (await isTeammate(tx, workspaceId, email)) {
            throw new ApiError("CONFLICT", "This person is a teammate already: change their role instead");
          }
          await requireBelowRowLimit(tx, workspaceId, invitationRoom);
          const token = newToken();
          const invitation: Invitation = {
            id: newId(),
            email,
            role,
            inviter: inviterOf(actor),
            created_at: now(),
            ...sentNow(now()),
          };
          if (!(await insertInvitation(tx, workspaceId, invitation, token))) {
            throw new ApiError(
              "CONFLICT",
              "This address is invited already: resend or revoke the invitation",
            );
          }
          await send(tx, workspaceId, email, token);
          return shown(invitation);
        });
      },
    }),
    endpoint({
      id: "resendInvitation",
      method: "POST",
      path: "/team/invitations/{id}/resend",
      summary: "Mail a new link; the old one stops working",
      description:
        "The new link works for seven days from now. You answer for the role from then on, in place of the first inviter.",
      needs: need(team, "write"),
      outward: "sends",
      confirmed: true,
      answer: InvitationShape,
      message: `Invitation sent again; its link works for ${INVITATION_DAYS} days`,
      handle({ caller, params }) {
        const { workspaceId } = caller;
        return inTeamTransaction(db, workspaceId, async (tx) => {
          const invitation = required(await lockInvitation(tx, workspaceId, params.id), "Invitation");
          requireMayGrant(await lockAuthority(tx, caller, now()), invitation.role);
          const token = newToken();
          const renewed = { ...invitation, inviter: inviterOf(caller.actor), ...sentNow(now()) };
          await updateInvitationToken(tx, workspaceId, renewed, token);
          await send(tx, workspaceId, invitation.email, token);
          return shown(renewed);
        });
      },
    }),
    endpoint({
      id: "revokeInvitation",
      method: "DELETE",
      path: "/team/invitations/{id}",
      summary: "Revoke an invitation: its link stops working at once",
      description: "The invitation disappears from the list, and its link answers 404.",
      needs: need(team, "write"),
      confirmed: true,
      answer: Deleted,
      message: "Invitation revoked",
      handle({ caller, params }) {
        const { workspaceId } = caller;
        return inTeamTransaction(db, workspaceId, async (tx) => {
          const invitation = required(await lockInvitation(tx, workspaceId, params.id), "Invitation");
          requireMayGrant(await lockAuthority(tx, caller, now()), invitation.role);
          await removeInvitation(tx, workspaceId, invitation.id);
          return { id: invitation.id, deleted: true } as const;
        });
      },
    }),
    endpoint({
      id: "previewInvitation",
      method: "POST",
      path: "/invitations/preview",
      summary: "What an invitation offers, for the page that its link opens",
      description:
        "Answers the workspace, the role and the invited address for the token of a link, so that the page can ask for what is missing.",
      needs: "public",
      unaudited: "only reads",
      body: Type.Object({ token: TokenField }, { $id: "InvitationToken" }),
      answer: InvitationPreview,
      message: "Invitation",
      errors: ["NOT_FOUND", "CONFLICT"],
      async handle({ body }) {
        const invitation = await findInvitationByToken(db, body.token, now());
        if (invitation === undefined) throw endedInvitation();
        await requireInviterMayGrant(db, invitation, now());
        const { workspaceName, email, role, inviter, expires_at } = invitation;
        return {
          workspace_name: workspaceName,
          email,
          role_name: role.name,
          invited_by: inviter.name,
          expires_at,
        };
      },
    }),
    endpoint({
      id: "acceptInvitation",
      method: "POST",
      path: "/invitations/accept",
      summary:
        "Join a workspace: signed in with the invited address, or as a new person with name and password",
      description:
        "A signed-in person joins if the invitation is for their address. A new person sends a name and a password, gets an account and is signed in. The token works once. 409 if the person is a member already, has an account and is not signed in, or if the inviter may not give the role any more.",
      needs: "public",
      body: Acceptance,
      answer: Joined,
      message: "You are a member of the workspace",
      errors: ["NOT_FOUND", "CONFLICT", "BAD_REQUEST"],
      async handle({ body, cookies, client }) {
        const { user, invitation } = await acceptInvitation(deps, body, { cookies, client });
        const { workspaceId, workspaceName, role } = invitation;
        return {
          workspace_id: workspaceId as string,
          workspace_name: workspaceName,
          user_id: user.id,
          role: roleValueOf(role),
          role_name: role.name,
        } satisfies Static<typeof Joined>;
      },
    }),
  ];
}

function sentNow(now: Date) {
  return { sent_at: now, expires_at: new Date(now.getTime() + INVITATION_DAYS * DAY_MS) };
}
