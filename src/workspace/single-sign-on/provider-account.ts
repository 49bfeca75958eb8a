/** What the OpenID provider says of a person: claims of the ID token and of UserInfo (OpenID Connect Core 1.0 section 5.1). */
import { ProviderFault } from "./provider-fault.ts";

export interface ProviderAccount {
  readonly issuer: string;
  /** Id of the account at the issuer; it is never given to another one. */
  readonly subject: string;
  readonly email: string | null;
  /** What the provider says of the address; null: nothing. */
  readonly isEmailVerified: boolean | null;
  readonly name: string | null;
  /** When the person proved at the provider who they are; null: unknown. */
  readonly provedAt: Date | null;
  /** Values of OIDC_ROLE_CLAIM. */
  readonly groups: readonly string[];
}

type Claims = Readonly<Record<string, unknown>>;

/** Core 1.0 section 2: at most 255 ASCII characters. */
const LONGEST_SUBJECT = 255;
const MOST_GROUPS = 1_000;

/**
 * @param token claims of the ID token, which count more
 * @param userInfo claims of the UserInfo endpoint
 * @throws ProviderFault "invalid"
 */
export function readAccount(token: Claims, userInfo: Claims, roleClaim: string | null): ProviderAccount {
  const { iss, sub, auth_time: provedAt } = token;
  if (typeof iss !== "string" || typeof sub !== "string" || sub === "" || sub.length > LONGEST_SUBJECT) {
    throw new ProviderFault("invalid", "the ID token names no account");
  }
  // What is said about an address belongs to the address of the same source.
  const source = token["email"] === undefined ? userInfo : token;
  const given = roleClaim === null ? undefined : (valueAt(token, roleClaim) ?? valueAt(userInfo, roleClaim));
  return {
    issuer: iss,
    subject: sub,
    email: textIn(source, "email"),
    isEmailVerified: verdictOf(source["email_verified"]),
    name: textIn(token, "name") ?? textIn(userInfo, "name"),
    provedAt: typeof provedAt === "number" ? new Date(provedAt * 1_000) : null,
    groups: [given].flat().filter(isText).slice(0, MOST_GROUPS),
  };
}

/** Some providers send the Boolean as a text. */
function verdictOf(value: unknown): boolean | null {
  if (value === undefined || value === null) return null;
  return value === true || value === "true";
}

function textIn(claims: Claims, name: string): string | null {
  const value = claims[name];
  return isText(value) ? value : null;
}

/** A claim by its name, or by its path: `realm_access.roles`. */
function valueAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  return name
    .split(".")
    .reduce<unknown>(
      (value, key) => (isClaims(value) && Object.hasOwn(value, key) ? value[key] : undefined),
      claims,
    );
}

function isClaims(value: unknown): value is Claims {
  return typeof value === "object" && value !== null;
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
