/**
 * The person of an account at the OpenID provider. Accounts are tied by issuer and subject. The first time, a verified
 * address connects an account with the person who has it; an address that the provider has not verified connects nothing.
 */
import { domainOf, normalizeAddress, parseAddress } from "#mail/address.ts";
import type { Config } from "#platform/config/config.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { requireBelowRowLimitUnderLock } from "#platform/database/row-limit-store.ts";
import { accountNotice, type SendAccountMail } from "#workspace/people/account-mails.ts";
import { createUser } from "#workspace/people/create-user.ts";
import { hasUser } from "#workspace/people/links-store.ts";
import { insertWorkspaceMember } from "#workspace/people/members-store.ts";
import { findUserByEmail, lockUser, type User } from "#workspace/people/users-store.ts";
import { LONGEST_NAME, plainName } from "#workspace/read-display-name.ts";
import { lockTeam, teammateRoom } from "#workspace/team/teammate-store.ts";
import { findFirstWorkspace } from "#workspace/workspaces/store.ts";
import type { ProviderAccount } from "./provider-account.ts";
import {
  findUserIdOfAccount,
  hasExternalAccount,
  insertExternalAccount,
  isInvited,
  lockExternalAccount,
  useExternalAccount,
} from "./store.ts";

/**
 * Why a sign-in is refused: the address is not verified or of another domain; the person is unknown or disabled, or is
 * connected with another account of the provider.
 */
export type SignOnRefusal = "unverified" | "other_domain" | "unknown" | "disabled" | "other_account";

export type SignOnPolicy = Pick<
  Config,
  | "OIDC_TRUST_EMAILS"
  | "OIDC_ALLOWED_DOMAINS"
  | "OIDC_CREATE_USERS"
  | "OIDC_DEFAULT_ROLE"
  | "OIDC_ROLES"
  | "OIDC_NAME"
>;

interface PersonDeps {
  readonly policy: SignOnPolicy;
  readonly sendAccountMail: SendAccountMail;
}

/** The user, locked until the transaction ends; or why there is none, and nothing is changed then. */
export async function personOfAccount(
  tx: Queryable,
  { policy, sendAccountMail }: PersonDeps,
  account: ProviderAccount,
  now: Date,
): Promise<User | SignOnRefusal> {
  const email = verifiedEmail(account, policy);
  const domains = policy.OIDC_ALLOWED_DOMAINS;
  if (domains.length > 0) {
    if (email === null) return "unverified";
    if (!domains.includes(domainOf(email))) return "other_domain";
  }
  await lockExternalAccount(tx, account);
  const known = await findUserIdOfAccount(tx, account);
  if (known !== undefined) {
    const user = await activeUser(tx, known);
    if (typeof user !== "string") await useExternalAccount(tx, account, now);
    return user;
  }
  if (email === null) return "unverified";
  const found = await findUserByEmail(tx, email);
  if (found === undefined) return newPerson(tx, policy, account, email, now);
  const user = await activeUser(tx, found.id);
  if (typeof user === "string") return user;
  // The address was changed since it was read.
  if (user.email !== email) return "unknown";
  // Companies give addresses of people who have left to others.
  if (await hasExternalAccount(tx, account.issuer, user.id)) return "other_account";
  await insertExternalAccount(tx, account, user.id, now);
  const sentence = `Your account was connected with ${policy.OIDC_NAME}: a person who signs in there with that account is signed in to your account here from now on.`;
  await sendAccountMail(tx, accountNotice(email, "Single sign-on is connected with your account", sentence));
  return user;
}

async function activeUser(tx: Queryable, id: string): Promise<User | SignOnRefusal> {
  const user = await lockUser(tx, id);
  if (user === undefined) return "unknown";
  return user.disabled_at === null ? user : "disabled";
}

/** The normalised address if it may connect an account; null otherwise. */
function verifiedEmail({ email, isEmailVerified }: ProviderAccount, policy: SignOnPolicy): string | null {
  const isVerified = isEmailVerified ?? policy.OIDC_TRUST_EMAILS;
  const parsed = email !== null && isVerified ? parseAddress(email) : null;
  return parsed?.ok ? normalizeAddress(parsed.address) : null;
}

/**
 * Creates the person: as a member of the first workspace (OIDC_CREATE_USERS), or without a workspace when an invitation
 * waits for the address, which the person accepts afterwards. The owner of a new installation comes first.
 */
async function newPerson(
  tx: Queryable,
  policy: SignOnPolicy,
  account: ProviderAccount,
  email: string,
  now: Date,
): Promise<User | SignOnRefusal> {
  if (!(await hasUser(tx))) return "unknown";
  const role = policy.OIDC_CREATE_USERS ? roleOf(account, policy) : null;
  const workspace = role === null ? undefined : await findFirstWorkspace(tx);
  if (workspace === undefined && !(await isInvited(tx, email, now))) return "unknown";
  if (workspace !== undefined) {
    await lockTeam(tx, workspace.id);
    await requireBelowRowLimitUnderLock(tx, workspace.id, teammateRoom);
  }
  const user = await createUser(tx, { email, name: nameOf(account, email), passwordHash: null }, now);
  await insertExternalAccount(tx, account, user.id, now);
  if (workspace !== undefined) {
    const membership = { userId: user.id, builtInRole: role, roleId: null };
    await insertWorkspaceMember(tx, workspace.id, membership, now);
  }
  return user;
}

function roleOf({ groups }: ProviderAccount, policy: SignOnPolicy): string | null {
  const [, role = policy.OIDC_DEFAULT_ROLE] =
    policy.OIDC_ROLES.find(([group]) => groups.includes(group)) ?? [];
  return role;
}

/** A name that readName accepts. */
function nameOf({ name }: ProviderAccount, email: string): string {
  return Array.from(plainName(name ?? "") || email)
    .slice(0, LONGEST_NAME)
    .join("")
    .trim();
}
