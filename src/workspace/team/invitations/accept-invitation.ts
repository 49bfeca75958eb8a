/**
 * Accepts an invitation. The token proves that the caller reads mail of the invited address. It opens no session of an
 * account that exists: an existing person signs in first, with password and factor.
 */
import { describeAudit } from "#platform/audit/pending-event.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { requireBelowRowLimitUnderLock } from "#platform/database/row-limit-store.ts";
import { ApiError, invalid } from "#platform/errors.ts";
import { type CookieJar, SESSION_COOKIE } from "#platform/http/auth/session-cookie.ts";
import type { Client } from "#platform/http/endpoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Reached } from "#platform/limits/quota-store.ts";
import type { PasswordHasher } from "#workspace/passwords/hash-password.ts";
import { requireGoodPassword } from "#workspace/passwords/password-rules.ts";
import { createUser } from "#workspace/people/create-user.ts";
import { insertWorkspaceMember } from "#workspace/people/members-store.ts";
import { hashToken, openPersonSession } from "#workspace/people/open-session.ts";
import { findSession } from "#workspace/people/store.ts";
import { findUserByEmail } from "#workspace/people/users-store.ts";
import { readName } from "#workspace/read-display-name.ts";
import { lockTeam, teammateRoom } from "#workspace/team/teammate-store.ts";
import type { InvitationMail } from "./invitation-mail.ts";
import { findInvitationByToken, lockInvitation, type OpenInvitation, removeInvitation } from "./store.ts";

export interface AcceptDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly passwords: PasswordHasher;
  /** Clears the authenticator's cache of members. */
  readonly forgetKeys: () => void;
  /** Accepts a platform mail in the given transaction, or returns the limit that is reached. */
  readonly sendInvitation: (
    tx: Queryable,
    workspaceId: WorkspaceId,
    mail: InvitationMail,
  ) => Promise<Reached | null>;
}

interface AcceptedBy {
  readonly token: string;
  readonly name?: string | undefined;
  readonly password?: string | undefined;
}

interface Joining {
  readonly user: { readonly id: string; readonly name: string; readonly email: string };
  readonly invitation: OpenInvitation;
}

/**
 * @throws ApiError NOT_FOUND when the invitation has ended; FORBIDDEN for people who are signed in with another address;
 * CONFLICT when the person has an account and is not signed in, or is a member already; VALIDATION_ERROR
 */
export async function acceptInvitation(
  { db, clock, passwords, forgetKeys }: AcceptDeps,
  { token, name, password }: AcceptedBy,
  request: { readonly client: Client; readonly cookies: CookieJar },
): Promise<Joining> {
  const now = clock.now();
  const found = await findInvitationByToken(db, token, now);
  if (found === undefined) throw endedInvitation();
  const person = await signedInPerson(db, request.cookies, now);
  if (person !== undefined && person.email !== found.email) {
    throw new ApiError(
      "FORBIDDEN",
      "The invitation is for another address: sign out, or sign in with the address that it was sent to",
    );
  }
  const account =
    person === undefined ? await newAccount(db, passwords, found.email, { name, password }) : undefined;
  const joined = await db.transaction(async (tx) => {
    await lockTeam(tx, found.workspaceId);
    // Of two requests with one token, the second finds the invitation gone.
    const invitation = await lockInvitation(tx, found.workspaceId, found.id);
    if (invitation === undefined || (await findInvitationByToken(tx, token, now)) === undefined) {
      throw endedInvitation();
    }
    const { workspaceId, role } = invitation;
    await requireBelowRowLimitUnderLock(tx, workspaceId, teammateRoom);
    const user = person ?? (await createUser(tx, { email: invitation.email, ...required(account) }, now));
    const { builtInRole, roleId } = role;
    if (!(await insertWorkspaceMember(tx, workspaceId, { userId: user.id, builtInRole, roleId }, now))) {
      throw new ApiError("CONFLICT", "You are a member of this workspace already");
    }
    await removeInvitation(tx, workspaceId, invitation.id);
    describeAudit({
      actor: { kind: "person", id: user.id, name: user.name },
      workspaceId,
      resource: { id: invitation.id, name: invitation.email },
    });
    if (person === undefined) {
      await openPersonSession(tx, { userId: user.id, hasSecondFactor: false }, request, now);
    }
    return { user, invitation };
  });
  forgetKeys();
  return joined;
}

/** The same answer for tokens that never existed, were used, revoked or replaced, or have expired. */
export function endedInvitation(): ApiError {
  return new ApiError(
    "NOT_FOUND",
    "The invitation has expired or was used already: ask a teammate to send it again",
  );
}

async function signedInPerson(db: Queryable, cookies: CookieJar, now: Date) {
  const session = cookies.get(SESSION_COOKIE);
  return session === undefined ? undefined : findSession(db, hashToken(session), now);
}

/** Hashes outside of the transaction, because it takes a while. @throws ApiError */
async function newAccount(
  db: Queryable,
  passwords: PasswordHasher,
  email: string,
  { name, password }: Pick<AcceptedBy, "name" | "password">,
): Promise<{ readonly name: string; readonly passwordHash: string }> {
  if ((await findUserByEmail(db, email)) !== undefined) {
    throw new ApiError("CONFLICT", `Sign in with ${email}, then accept the invitation`);
  }
  if (name === undefined) throw invalid({ field: "name", message: "name is required for a new person" });
  if (password === undefined) {
    throw invalid({ field: "password", message: "password is required for a new person" });
  }
  requireGoodPassword(password, email);
  return { name: readName(name), passwordHash: await passwords.hash(password) };
}

function required<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error("a new person has an account");
  return value;
}
