/** Passkeys (WebAuthn Level 3): the options that a browser needs, and the checks of what it answers. */
import { randomBytes } from "node:crypto";
import { type Static, Type } from "typebox";
import { octetsOfIds } from "#platform/ids.ts";
import type { PasskeyRow } from "./store.ts";

/** The site that a passkey belongs to: browsers bind passkeys to its host. */
export interface RelyingParty {
  /** The host. */
  readonly id: string;
  /** Scheme, host and port of the pages. */
  readonly origin: string;
}

/** @param url of the service. A browser takes no passkey for an IP address, so this machine is called localhost. */
export function relyingPartyOf(url: string): RelyingParty {
  const { hostname, port, protocol, origin } = new URL(url);
  if (hostname !== "127.0.0.1" && hostname !== "[::1]") return { id: hostname, origin };
  return { id: "localhost", origin: `${protocol}//localhost${port === "" ? "" : `:${port}`}` };
}

const NAME = "Posthaste";
const CHALLENGE_BYTES = 32;
const LONGEST_PART = 20_000;

/** Options for the browser, passed on unchanged. */
export const PasskeyOptions = Type.Record(Type.String(), Type.Unknown(), {
  description:
    "Options in the JSON form of WebAuthn: give them to PublicKeyCredential.parseCreationOptionsFromJSON or parseRequestOptionsFromJSON in the browser.",
});

const part = (description: string) => Type.String({ minLength: 1, maxLength: LONGEST_PART, description });
const extensions = Type.Optional(
  Type.Record(Type.String(), Type.Unknown(), { description: "Results of extensions; ignored." }),
);
const shared = {
  id: part("Id of the passkey, in Base64url."),
  rawId: part("As `id`."),
  type: Type.Literal("public-key", { description: "Always `public-key`." }),
  authenticatorAttachment: Type.Optional(
    Type.String({ maxLength: 100, description: "`platform` or `cross-platform`; ignored." }),
  ),
  clientExtensionResults: extensions,
};

/** What `navigator.credentials.get(...)` gives, as `toJSON()`. */
export const PasskeyAnswer = Type.Object(
  {
    ...shared,
    response: Type.Object(
      {
        clientDataJSON: part("Data that the browser signed over, in Base64url."),
        authenticatorData: part("Data of the authenticator, in Base64url."),
        signature: part("Signature, in Base64url."),
        userHandle: Type.Optional(part("Id of the user as bytes, in Base64url.")),
      },
      { description: "The assertion." },
    ),
  },
  {
    $id: "PasskeyAnswer",
    description: "The credential of `navigator.credentials.get()`, as its `toJSON()` gives it.",
  },
);

/** What `navigator.credentials.create(...)` gives, as `toJSON()`. */
export const NewPasskeyAnswer = Type.Object(
  {
    ...shared,
    response: Type.Object(
      {
        clientDataJSON: part("Data that the browser signed over, in Base64url."),
        attestationObject: part("The new public key, in Base64url."),
        authenticatorData: Type.Optional(part("Ignored: it is in `attestationObject`.")),
        publicKey: Type.Optional(part("Ignored: it is in `attestationObject`.")),
        publicKeyAlgorithm: Type.Optional(Type.Integer({ description: "Ignored." })),
        transports: Type.Optional(
          Type.Array(Type.String({ maxLength: 30 }), {
            maxItems: 10,
            description: "How the authenticator is reached, such as `internal` or `usb`.",
          }),
        ),
      },
      { description: "The attestation." },
    ),
  },
  {
    $id: "NewPasskeyAnswer",
    description: "The credential of `navigator.credentials.create()`, as its `toJSON()` gives it.",
  },
);

export type PasskeyProof = Static<typeof PasskeyAnswer>;
export type NewPasskeyProof = Static<typeof NewPasskeyAnswer>;

/** The parts of an answer that are checked. */
const checkedPartsOf = <Response>({
  id,
  rawId,
  type,
  response,
}: {
  readonly id: string;
  readonly rawId: string;
  readonly type: "public-key";
  readonly response: Response;
}) => ({ id, rawId, type, response, clientExtensionResults: {} });

/** A random challenge in Base64url. */
export function newWebauthnChallenge(): string {
  return randomBytes(CHALLENGE_BYTES).toString("base64url");
}

/**
 * The library, imported with the first passkey, because most processes never need it. package.json overrides the version
 * of its ASN.1 packages: with several copies it refuses all signatures of P-256
 * (github.com/MasterKale/SimpleWebAuthn/issues/808).
 */
function library(): Promise<typeof import("@simplewebauthn/server")> {
  return import("@simplewebauthn/server");
}

/** Options for `navigator.credentials.get`. @param passkeys those that may answer; empty: any of this site */
export async function requestOptions(
  party: RelyingParty,
  challenge: string,
  passkeys: readonly PasskeyRow[],
  isWholeSignIn: boolean,
): Promise<Record<string, unknown>> {
  const { generateAuthenticationOptions } = await library();
  const options = await generateAuthenticationOptions({
    rpID: party.id,
    challenge: Buffer.from(challenge, "base64url"),
    allowCredentials: passkeys.map(descriptorOf),
    userVerification: isWholeSignIn ? "required" : "preferred",
  });
  return { ...options };
}

/** Options for `navigator.credentials.create`. @param passkeys those that the user has */
export async function creationOptions(
  party: RelyingParty,
  challenge: string,
  user: { readonly id: string; readonly email: string; readonly name: string },
  passkeys: readonly PasskeyRow[],
): Promise<Record<string, unknown>> {
  const { generateRegistrationOptions } = await library();
  const options = await generateRegistrationOptions({
    rpName: NAME,
    rpID: party.id,
    userID: new Uint8Array(octetsOfIds(user.id)),
    userName: user.email,
    userDisplayName: user.name,
    challenge: Buffer.from(challenge, "base64url"),
    attestationType: "none",
    excludeCredentials: passkeys.map(descriptorOf),
    authenticatorSelection: { residentKey: "preferred", userVerification: "preferred" },
  });
  return { ...options };
}

/** The passkey of an answer to `creationOptions`; null when the answer is for another challenge or origin, or broken. */
export async function readNewPasskey(
  party: RelyingParty,
  challenge: string,
  answer: NewPasskeyProof,
): Promise<Pick<PasskeyRow, "credential_id" | "public_key" | "sign_count" | "transports"> | null> {
  const { verifyRegistrationResponse } = await library();
  try {
    const { registrationInfo } = await verifyRegistrationResponse({
      response: checkedPartsOf({
        ...answer,
        response: {
          clientDataJSON: answer.response.clientDataJSON,
          attestationObject: answer.response.attestationObject,
        },
      }),
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: false,
    });
    if (registrationInfo === undefined) return null;
    const { id, publicKey, counter } = registrationInfo.credential;
    return {
      credential_id: id,
      public_key: Buffer.from(publicKey),
      sign_count: counter,
      transports: answer.response.transports ?? [],
    };
  } catch {
    // The library throws for every kind of invalid answer.
    return null;
  }
}

/**
 * The new counter of the passkey; null when the signature is wrong or for another challenge or origin, or when the counter
 * shows that the passkey was copied.
 * @param isWholeSignIn the authenticator must have checked its owner, by a fingerprint or PIN
 */
export async function counterOfAnswer(
  party: RelyingParty,
  challenge: string,
  answer: PasskeyProof,
  passkey: PasskeyRow,
  isWholeSignIn: boolean,
): Promise<number | null> {
  const { verifyAuthenticationResponse } = await library();
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: checkedPartsOf(answer),
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: isWholeSignIn,
      credential: {
        id: passkey.credential_id,
        publicKey: new Uint8Array(passkey.public_key),
        counter: passkey.sign_count,
      },
    });
    return verified ? authenticationInfo.newCounter : null;
  } catch {
    return null;
  }
}

function descriptorOf({ credential_id, transports }: PasskeyRow): { id: string; transports: string[] } {
  return { id: credential_id, transports: [...transports] };
}
