/** The first owner of an installation, who has the link that the start of the service prints. */
import { Type } from "typebox";
import { describeAudit } from "#platform/audit/pending-event.ts";
import { ApiError } from "#platform/errors.ts";
import { type Endpoint, endpoint } from "#platform/http/endpoint.ts";
import { typedCommand } from "#platform/typed-command.ts";
import {
  NewPasswordField,
  requireGoodPassword,
  requirePasswordLogin,
} from "#workspace/passwords/password-rules.ts";
import { createUser, readPersonEmail } from "#workspace/people/create-user.ts";
import { findAccountLink, takeLink } from "#workspace/people/links-store.ts";
import { insertWorkspaceMember } from "#workspace/people/members-store.ts";
import { hashToken } from "#workspace/people/open-session.ts";
import { LONGEST_NAME, readName } from "#workspace/read-display-name.ts";
import { countVisit } from "#workspace/sign-in/attempts.ts";
import { Session, sessionOf } from "#workspace/sign-in/session-shapes.ts";
import { SignIn, type SignInDeps } from "#workspace/sign-in/sign-in.ts";
import { findFirstWorkspace, updateWorkspace } from "#workspace/workspaces/store.ts";
import { readTimezone } from "#workspace/workspaces/workspace.ts";

const FirstOwner = Type.Object(
  {
    token: Type.String({
      minLength: 1,
      maxLength: 100,
      description: "The token of the link that the start of the service prints: what follows `#` in it.",
    }),
    name: Type.String({ minLength: 1, maxLength: LONGEST_NAME, description: "Your name." }),
    email: Type.String({
      minLength: 1,
      maxLength: 1_000,
      description: "The address that you will sign in with.",
    }),
    password: NewPasswordField,
    workspace_name: Type.String({
      minLength: 1,
      maxLength: LONGEST_NAME,
      description: "Name of the first workspace, such as that of your company.",
    }),
    timezone: Type.String({
      maxLength: 100,
      description: "IANA time zone of the workspace, such as `Europe/Paris`. Days of reports follow it.",
    }),
  },
  { $id: "FirstOwner" },
);

export function firstOwnerEndpoints(deps: SignInDeps): Endpoint[] {
  const { db, clock, hasher, factors, forgetSessions } = deps;
  const signIn = new SignIn(deps);
  return [
    endpoint({
      id: "createFirstOwner",
      method: "POST",
      path: "/first-owner",
      summary:
        "Create the first person: owner of the first workspace and operator of the installation; signs in",
      description:
        "Works with the one-time link that the service prints at its start while it has no user. It answers 404 when the token is wrong, was used or has expired, and when there is a user already: the link then works no more.",
      needs: "public",
      body: FirstOwner,
      answer: Session,
      status: 201,
      message: "Welcome",
      errors: ["NOT_FOUND", "CONFLICT"],
      async handle({ body, client, cookies }) {
        requirePasswordLogin(
          deps,
          `create the first person with \`${typedCommand("user create --owner --operator")}\``,
        );
        const now = clock.now();
        await countVisit(db, client.ip, now);
        const tokenHash = hashToken(body.token);
        if ((await findAccountLink(db, tokenHash, "first_owner", now)) === undefined) throw unusable();
        const email = readPersonEmail(body.email);
        const settings = { name: readName(body.workspace_name), timezone: readTimezone(body.timezone) };
        requireGoodPassword(body.password, email);
        const passwordHash = await hasher.hash(body.password);
        const { userId, sessionId } = await db.transaction(async (tx) => {
          if ((await takeLink(tx, tokenHash, "first_owner", now)) === undefined) throw unusable();
          const given = { email, name: readName(body.name), passwordHash, isOperator: true };
          const user = await createUser(tx, given, now);
          const workspace = await findFirstWorkspace(tx);
          if (workspace !== undefined) {
            describeAudit({ workspaceId: workspace.id });
            await updateWorkspace(tx, { ...workspace, ...settings, updated_at: now });
            const owner = { userId: user.id, builtInRole: "owner", roleId: null };
            await insertWorkspaceMember(tx, workspace.id, owner, now);
          }
          return { userId: user.id, sessionId: await signIn.open(tx, user, { client, cookies }, false) };
        });
        forgetSessions();
        return sessionOf(db, factors, userId, sessionId, now);
      },
    }),
  ];
}

const unusable = () =>
  new ApiError(
    "NOT_FOUND",
    `The link was used, was replaced or has expired: restart the service for a new one, or use \`${typedCommand("user create")}\``,
  );
