/**
 * Which passwords people may choose: long ones that are not common. There are no rules about kinds of characters, which make
 * passwords harder to remember and not harder to guess (NIST SP 800-63B section 3.1.1).
 */
import { Type } from "typebox";
import { ApiError, invalid } from "#platform/errors.ts";
import common from "./common-passwords.json" with { type: "json" };

export const SHORTEST_PASSWORD = 10;
export const LONGEST_PASSWORD = 256;

const commonPasswords = new Set(common.passwords);

/** A password in a body, as it is typed at sign-in: of any length that may have been chosen. */
export const PasswordField = Type.String({
  minLength: 1,
  maxLength: LONGEST_PASSWORD,
  description: "The person's password.",
});

/** A password in a body that becomes the password of an account. */
export const NewPasswordField = Type.String({
  minLength: SHORTEST_PASSWORD,
  maxLength: LONGEST_PASSWORD,
  description: `The new password: ${SHORTEST_PASSWORD} to ${LONGEST_PASSWORD} characters of any kind, not a common password and not the address.`,
});

/**
 * Checks a password that a person chooses.
 * @param email the address of the account
 * @param field the field of the body that has the password
 * @throws ApiError VALIDATION_ERROR
 */
export function requireGoodPassword(password: string, email: string, field = "password"): void {
  const fault = faultOf(password, email.toLowerCase());
  if (fault !== null) throw invalid({ field, message: `${field} ${fault}` });
}

/** How people sign in at this installation, besides passkeys. */
export interface SignInWays {
  /** PASSWORD_LOGIN */
  readonly hasPasswords: boolean;
  /** Whether an OpenID provider is configured. */
  readonly hasSingleSignOn: boolean;
}

/**
 * Checks that people may use passwords here.
 * @param way what the person can do instead
 * @throws ApiError FORBIDDEN where PASSWORD_LOGIN is off
 */
export function requirePasswordLogin(
  { hasPasswords, hasSingleSignOn }: SignInWays,
  way = hasSingleSignOn ? "use single sign-on or a passkey" : "use a passkey",
): void {
  if (!hasPasswords) throw new ApiError("FORBIDDEN", `Passwords are switched off here: ${way}`);
}

function faultOf(password: string, email: string): string | null {
  const characters = Array.from(password).length;
  if (characters < SHORTEST_PASSWORD) return `must have at least ${SHORTEST_PASSWORD} characters`;
  if (characters > LONGEST_PASSWORD) return `must have at most ${LONGEST_PASSWORD} characters`;
  const plain = password.trim().toLowerCase();
  if (plain === email) return "must not be the address of the account";
  if (commonPasswords.has(plain) || new Set(plain).size === 1) {
    return "is one of the commonest, which attackers try first: choose another, such as four random words";
  }
  return null;
}
