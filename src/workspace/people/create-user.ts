/** Creates people. */
import { normalizeAddress } from "#mail/address.ts";
import { parseOnlyAddress } from "#mail/mailbox.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { ApiError, invalid } from "#platform/errors.ts";
import { newId } from "#platform/ids.ts";
import { removeLinks } from "./links-store.ts";
import { insertUser, type User } from "./users-store.ts";

export interface NewUser {
  readonly email: string;
  /** Read by readName. */
  readonly name: string;
  /** PasswordHasher.hash; null: the person chooses a password by a link, or signs in without one. */
  readonly passwordHash: string | null;
  readonly isOperator?: boolean;
  readonly timezone?: string | null;
}

/** The address of a person as it is stored and searched. @throws ApiError VALIDATION_ERROR */
export function readPersonEmail(text: string, field = "email"): string {
  const parsed = parseOnlyAddress(text);
  if (!parsed.ok) throw invalid({ field, message: `${field}: ${parsed.message}` });
  return normalizeAddress(parsed.address);
}

/**
 * Creates a user in the caller's transaction. The link for the first owner stops working with the first user.
 * @throws ApiError VALIDATION_ERROR; CONFLICT when another user has the address
 */
export async function createUser(tx: Queryable, given: NewUser, now: Date): Promise<User> {
  const user: User = {
    id: newId(),
    email: readPersonEmail(given.email),
    name: given.name,
    password_hash: given.passwordHash,
    language: null,
    timezone: given.timezone ?? null,
    theme: null,
    preferences: {},
    is_operator: given.isOperator ?? false,
    created_at: now,
    disabled_at: null,
  };
  if (!(await insertUser(tx, user))) throw new ApiError("CONFLICT", "Another person has this address");
  await removeLinks(tx, "first_owner", null);
  return user;
}
