/** Passkeys of this browser: its answers to the options of the service, as JSON. */
import type { Schema } from "@posthaste/client";

/** Why the browser gave no passkey, in words. */
export class PasskeyError extends Error {}

const sentences: Readonly<Record<string, string>> = {
  NotAllowedError: "No passkey was used. Try again, or choose another way.",
  InvalidStateError: "This device has a passkey for this account already.",
  SecurityError:
    "Passkeys do not work at this address of the service. Open it by the name that its operator has set.",
};

export function hasPasskeys(): boolean {
  return "PublicKeyCredential" in window;
}

export async function askPasskey(options: unknown): Promise<Schema<"PasskeyAnswer">> {
  return answerOf(() => {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
      options as PublicKeyCredentialRequestOptionsJSON,
    );
    return navigator.credentials.get({ publicKey });
  });
}

export async function makePasskey(options: unknown): Promise<Schema<"NewPasskeyAnswer">> {
  return answerOf(() => {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
      options as PublicKeyCredentialCreationOptionsJSON,
    );
    return navigator.credentials.create({ publicKey });
  });
}

/** @throws PasskeyError */
async function answerOf<Shape>(ask: () => Promise<Credential | null>): Promise<Shape> {
  try {
    const credential = (await ask()) as PublicKeyCredential;
    return credential.toJSON() as Shape;
  } catch (error) {
    const name = error instanceof DOMException ? error.name : "";
    throw new PasskeyError(sentences[name] ?? "The browser could not use a passkey.", { cause: error });
  }
}
