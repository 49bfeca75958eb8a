/**
 * The file named by GOOGLE_POSTMASTER_CREDENTIALS, and the token request made from it: a service account signs an
 * assertion (RFC 7523), a user's consent left a refresh token (RFC 6749 section 6).
 */
import { createPrivateKey, type KeyObject, sign } from "node:crypto";
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";

const SCOPE = "https://www.googleapis.com/auth/postmaster.traffic.readonly";
/** The longest that Google allows. */
const ASSERTION_SECONDS = 3_600;

const line = Type.String({ minLength: 1, maxLength: 4_096 });
const tokenUri = {
  token_uri: Type.String({ pattern: "^https?://", default: "https://oauth2.googleapis.com/token" }),
};
const ServiceAccount = Type.Object({
  client_email: line,
  private_key: Type.String({ minLength: 1, maxLength: 16_384 }),
  private_key_id: Type.Optional(line),
  /** Added by the operator: the user to act for, by domain-wide delegation. */
  subject: Type.Optional(line),
  ...tokenUri,
});
const AuthorisedUser = Type.Object({
  client_id: line,
  client_secret: line,
  refresh_token: line,
  ...tokenUri,
});

export interface GoogleCredentials {
  readonly tokenUri: URL;
  /** The form of the token request. */
  tokenRequest(now: Date): URLSearchParams;
}

/** @throws an Error for the operator that names the field */
export function readCredentials(file: unknown): GoogleCredentials {
  const isPerson = Value.Check(Type.Object({ refresh_token: Type.Unknown() }), file);
  return isPerson ? ofPerson(read(AuthorisedUser, file)) : ofServiceAccount(read(ServiceAccount, file));
}

function read<Shape extends typeof ServiceAccount | typeof AuthorisedUser>(
  shape: Shape,
  file: unknown,
): Static<Shape> {
  const given = Value.Default(shape, Value.Clone(file));
  if (Value.Check(shape, given)) return given;
  const [fault] = Value.Errors(shape, given);
  throw refusal(`${fault?.instancePath || "/"} ${fault?.message ?? "is wrong"}`);
}

function ofPerson({ token_uri, ...fields }: Static<typeof AuthorisedUser>): GoogleCredentials {
  return {
    tokenUri: addressOf(token_uri),
    tokenRequest: () =>
      new URLSearchParams({
        grant_type: "refresh_token",
        client_id: fields.client_id,
        client_secret: fields.client_secret,
        refresh_token: fields.refresh_token,
      }),
  };
}

function ofServiceAccount(account: Static<typeof ServiceAccount>): GoogleCredentials {
  const { token_uri: aud, client_email: iss, private_key_id: kid, subject: sub } = account;
  const key = privateKeyOf(account.private_key);
  return {
    tokenUri: addressOf(aud),
    tokenRequest(now) {
      const iat = Math.floor(now.getTime() / 1_000);
      const claims = { iss, sub, aud, scope: SCOPE, iat, exp: iat + ASSERTION_SECONDS };
      return new URLSearchParams({
        grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
        assertion: signedToken({ alg: "RS256", typ: "JWT", kid }, claims, key),
      });
    },
  };
}

/** A JSON Web Token in its compact form (RFC 7519, RFC 7515 section 7.1). */
function signedToken(header: object, claims: object, key: KeyObject): string {
  const base64 = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const content = `${base64(header)}.${base64(claims)}`;
  return `${content}.${sign("sha256", Buffer.from(content), key).toString("base64url")}`;
}

function privateKeyOf(pem: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    throw refusal("/private_key is not a private key");
  }
  if (key.asymmetricKeyType !== "rsa") throw refusal("/private_key is not an RSA key");
  return key;
}

function addressOf(text: string): URL {
  const address = URL.parse(text);
  if (address === null) throw refusal("/token_uri is not a URL");
  return address;
}

function refusal(why: string): Error {
  return new Error(`GOOGLE_POSTMASTER_CREDENTIALS: ${why}`);
}
