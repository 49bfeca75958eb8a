/**
 * Accepts an invitation. The token proves that the caller reads mail of the invited address. It opens no session of an
 * account that exists: an existing person signs in first, with password and factor.
 */
import { describeAudit } from "#platform/audit/pending-event.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { requireBelowRowLimitUnderLock } from "#platform/database/row-limit-store.ts";
import { ApiError, invalid } from "#platform/errors.ts";
import { type CookieJar, SESSION_COOKIE } from "#platform/http/auth/session-cookie.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Reached } from "#platform/limits/quota-store.ts";
import { requireGoodPassword, requirePasswordLogin } from "#workspace/passwords/password-rules.ts";
import { createUser, type NewUser } from "#workspace/people/create-user.ts";
import { insertWorkspaceMember } from "#workspace/people/members-store.ts";
import { hashToken, type SessionRequest } from "#workspace/people/open-session.ts";
import { findSession } from "#workspace/people/store.ts";
import { findUserByEmail } from "#workspace/people/users-store.ts";
import { readName } from "#workspace/read-display-name.ts";
import { SignIn, type SignInDeps } from "#workspace/sign-in/sign-in.ts";
import { team } from "#workspace/team/permission.ts";
import { lockTeam, teammateRoom } from "#workspace/team/teammate-store.ts";
import type { InvitationMail } from "./invitation-mail.ts";
import { requireInviterMayGrant } from "./inviter-authority.ts";
import {
  findInvitationByToken,
  lockInvitationByToken,
  type OpenInvitation,
  removeInvitation,
} from "./store.ts";

export interface AcceptDeps extends SignInDeps {
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
 * CONFLICT when the person has an account and is not signed in, or is a member already, or when the inviter may not give the
 * role any more; VALIDATION_ERROR
 */
export async function acceptInvitation(
  deps: AcceptDeps,
  { token, name, password }: AcceptedBy,
  request: SessionRequest,
): Promise<Joining> {
  const { db, clock, forgetSessions } = deps;
  const now = clock.now();
  const found = await findInvitationByToken(db, token, now);
  if (found === undefined) throw endedInvitation();
  // As in the events of the teammates who invite, so that one filter finds all events of an invitation.
  describeAudit({ resource: { kind: team.name, id: found.id, name: found.email } });
  const person = await signedInPerson(db, request.cookies, now);
  if (person !== undefined && person.email !== found.email) {
    throw new ApiError(
      "FORBIDDEN",
      "The invitation is for another address: sign out, or sign in with the address that it was sent to",
    );
  }
  const account = person === undefined ? await newAccount(deps, found.email, { name, password }) : undefined;
  const joined = await db.transaction(async (tx) => {
    await lockTeam(tx, found.workspaceId);
    // Of two requests with one token, the second finds the invitation gone.
    const invitation = await lockInvitationByToken(tx, found.workspaceId, token, now);
    if (invitation === undefined) throw endedInvitation();
    await requireInviterMayGrant(tx, invitation, now);
    const created = person === undefined ? await createUser(tx, required(account), now) : undefined;
    const user = person ?? required(created);
    await join(tx, invitation, user.id, now);
    if (created !== undefined) await new SignIn(deps).open(tx, created, request, false);
    describeAudit({
      actor: { kind: "person", id: user.id, name: user.name },
      workspaceId: invitation.workspaceId,
      resource: { kind: team.name, id: invitation.id, name: invitation.email },
    });
    return { user, invitation };
  });
  forgetSessions();
  return joined;
}

/** The invitation becomes a membership. @throws ApiError BAD_REQUEST, CONFLICT */
async function join(tx: Queryable, invitation: OpenInvitation, userId: string, now: Date): Promise<void> {
  const { workspaceId, role } = invitation;
  await requireBelowRowLimitUnderLock(tx, workspaceId, teammateRoom);
  const { builtInRole, roleId } = role;
  if (!(await insertWorkspaceMember(tx, workspaceId, { userId, builtInRole, roleId }, now))) {
    throw new ApiError("CONFLICT", "You are a member of this workspace already");
  }
  await removeInvitation(tx, workspaceId, invitation.id);
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
  { db, hasher, ...ways }: SignInDeps,
  email: string,
  { name, password }: Pick<AcceptedBy, "name" | "password">,
): Promise<NewUser> {
  if ((await findUserByEmail(db, email)) !== undefined) {
    throw new ApiError("CONFLICT", `Sign in with ${email}, then accept the invitation`);
  }
  const otherWay = ways.hasSingleSignOn
    ? "sign in with single sign-on, then open the invitation again"
    : "ask the operator of the installation to configure single sign-on, which new accounts need";
  requirePasswordLogin(ways, otherWay);
  if (name === undefined) throw invalid({ field: "name", message: "name is required for a new person" });
  if (password === undefined) {
    throw invalid({ field: "password", message: "password is required for a new person" });
  }
  requireGoodPassword(password, email);
  return { email, name: readName(name), passwordHash: await hasher.hash(password) };
}

function required<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error("a new person has an account");
  return value;
}
