/** What the API shows of a session: its person, their workspaces and factors. */
import { type Static, Type } from "typebox";
import type { Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import { CONFIRMED_MS } from "#platform/http/authenticate.ts";
import { described, Id, nullable, Timestamp } from "#platform/shapes.ts";
import { listWorkspacesOf, MOST_WORKSPACES } from "#workspace/people/members-store.ts";
import { findSessionRow } from "#workspace/people/sessions-store.ts";
import { findUser, type User } from "#workspace/people/users-store.ts";
import type { SecondFactors } from "#workspace/second-factors/second-factors.ts";

const ProofKinds = Type.Array(
  Type.Union([Type.Literal("authenticator_app"), Type.Literal("passkey"), Type.Literal("recovery_code")]),
);

export const PersonAccount = Type.Object(
  {
    id: Type.Unsafe<string>({ ...Id, description: "Id of the person." }),
    email: Type.String({ description: "The address that the person signs in with, in lower case." }),
    name: Type.String({ description: "The name that teammates see." }),
    language: nullable(
      Type.String({ description: "Language as a BCP 47 tag such as `de`; null: that of the browser." }),
    ),
    timezone: nullable(
      Type.String({ description: "IANA time zone such as `Europe/Paris`; null: that of the browser." }),
    ),
    theme: nullable(
      Type.Union([Type.Literal("light"), Type.Literal("dark")], {
        description: "Colours of the console: `light` or `dark`; null: as the system.",
      }),
    ),
    preferences: Type.Record(Type.String(), Type.Unknown(), {
      description: "What the console keeps for the person, such as columns of tables.",
    }),
    has_password: Type.Boolean({
      description: "Whether the person can sign in with a password; otherwise by passkey or single sign-on.",
    }),
    is_operator: Type.Boolean({
      description:
        "Whether the person operates the installation: may suspend workspaces and credit accounts.",
    }),
    created_at: Type.Unsafe<Date>({ ...Timestamp, description: "When the account was created." }),
  },
  { $id: "PersonAccount" },
);

const SessionWorkspace = Type.Object(
  {
    id: Type.Unsafe<string>({ ...Id, description: "Id of the workspace, for the X-Workspace header." }),
    name: Type.String({ description: "Name of the workspace." }),
    timezone: Type.String({ description: "IANA time zone of the workspace." }),
    is_suspended: Type.Boolean({
      description: "Whether the workspace is suspended: it can read, but neither send nor change anything.",
    }),
    requires_second_factor: Type.Boolean({
      description: "Whether the workspace admits only sessions with a second factor.",
    }),
    role: Type.Object(
      {
        key: nullable(
          Type.String({
            description: "Key of a built-in role such as `owner`; null: a role of the workspace.",
          }),
        ),
        id: nullable(
          Type.String({ format: "uuid", description: "Id of a role of the workspace; null: built in." }),
        ),
        name: Type.String({ description: "Name of the role." }),
      },
      { description: "The person's role in the workspace." },
    ),
    permissions: Type.Array(Type.String(), {
      description: "Permissions of the role, such as `campaigns:send` or `*:*`.",
    }),
  },
  { $id: "SessionWorkspace" },
);

export const Session = Type.Object(
  {
    id: Type.Unsafe<string>({ ...Id, description: "Id of the session." }),
    person: described(PersonAccount, "The person who is signed in."),
    workspaces: Type.Array(SessionWorkspace, {
      description: `The workspaces of the person by name, at most ${MOST_WORKSPACES}.`,
    }),
    has_second_factor: Type.Boolean({
      description: "Whether the session was opened or confirmed with a second factor or a passkey.",
    }),
    second_factors: Type.Unsafe<Static<typeof ProofKinds>>({
      ...ProofKinds,
      description: "Kinds of proof that the person can give; empty without a second factor.",
    }),
    confirmed_until: Type.Unsafe<Date>({
      ...Timestamp,
      description: "Until when operations that ask for a confirmation need no new one (`reauthenticate`).",
    }),
    created_at: Type.Unsafe<Date>({ ...Timestamp, description: "When the person signed in." }),
    expires_at: Type.Unsafe<Date>({
      ...Timestamp,
      description: "When the session ends at the latest; it ends earlier after 14 days without a request.",
    }),
  },
  { $id: "Session" },
);

export const SecondFactorChallenge = Type.Object(
  {
    challenge: Type.String({
      description: "Token to send back with the proof. It works for ten minutes and five tries.",
    }),
    kinds: Type.Unsafe<Static<typeof ProofKinds>>({
      ...ProofKinds,
      description: "Kinds of proof that the person can give.",
    }),
    passkey_options: nullable(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          "Options for `PublicKeyCredential.parseRequestOptionsFromJSON` and `navigator.credentials.get`; null without passkeys.",
      }),
    ),
    expires_at: Type.Unsafe<Date>({ ...Timestamp, description: "When the token stops working." }),
  },
  { $id: "SecondFactorChallenge" },
);

export const SignInResult = Type.Object(
  {
    status: Type.Union([Type.Literal("signed_in"), Type.Literal("second_factor_required")], {
      description: "`signed_in`: the cookie of the session is set. `second_factor_required`: send a proof.",
    }),
    session: nullable(described(Session, "The session; null while a second factor is missing.")),
    second_factor: nullable(
      described(SecondFactorChallenge, "What completes the sign-in; null when it is complete."),
    ),
  },
  { $id: "SignInResult" },
);

export function personOf(user: User): Static<typeof PersonAccount> {
  const { id, email, name, language, timezone, theme, preferences, is_operator, created_at } = user;
  const has_password = user.password_hash !== null;
  return {
    id,
    email,
    name,
    language,
    timezone,
    theme,
    preferences: { ...preferences },
    has_password,
    is_operator,
    created_at,
  };
}

/** A session as the API shows it. @throws ApiError UNAUTHORIZED when it has ended */
export async function sessionOf(
  db: Queryable,
  factors: SecondFactors,
  userId: string,
  sessionId: string,
  confirmedAt: Date,
): Promise<Static<typeof Session>> {
  const [row, user] = [await findSessionRow(db, userId, sessionId), await findUser(db, userId)];
  if (row === undefined || user === undefined) {
    throw new ApiError("UNAUTHORIZED", "The session has ended: sign in again");
  }
  const workspaces = await listWorkspacesOf(db, userId);
  return {
    id: row.id,
    person: personOf(user),
    workspaces: workspaces.map((membership) => {
      const { builtInRole, roleId, roleName, permissions, joined_at: _, ...one } = membership;
      return {
        ...one,
        role: { key: builtInRole, id: roleId, name: roleName },
        permissions: [...permissions],
      };
    }),
    has_second_factor: row.has_second_factor,
    second_factors: await factors.kindsOf(db, userId),
    confirmed_until: new Date(confirmedAt.getTime() + CONFIRMED_MS),
    created_at: row.created_at,
    expires_at: row.expires_at,
  };
}
