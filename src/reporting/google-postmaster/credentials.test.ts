import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { readCredentials } from "./credentials.ts";

const pem = (type: "rsa" | "ed25519") => {
  const { privateKey } =
    type === "rsa" ? generateKeyPairSync("rsa", { modulusLength: 2_048 }) : generateKeyPairSync("ed25519");
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
};
const account = { client_email: "posthaste@project.iam.test", private_key: pem("rsa") };
const person = { client_id: "1", client_secret: "s", refresh_token: "r" };

test("both kinds go to Google where the file does not say otherwise", () => {
  for (const file of [account, person]) {
    expect(readCredentials(file).tokenUri.href).toBe("https://oauth2.googleapis.com/token");
  }
});

test.each<[string, unknown, string]>([
  ["nothing that is known", {}, "must have required properties client_email, private_key"],
  ["no object", "credentials.json", "must be object"],
  ["a list", [account], "must be object"],
  ["an empty e-mail address", { ...account, client_email: "" }, "/client_email"],
  [
    "a private key that is none",
    { ...account, private_key: "-----BEGIN" },
    "/private_key is not a private key",
  ],
  ["a key of another kind", { ...account, private_key: pem("ed25519") }, "/private_key is not an RSA key"],
  ["an address of another protocol", { ...account, token_uri: "file:///etc/passwd" }, "/token_uri"],
  ["an address that is none", { ...person, token_uri: "https://" }, "/token_uri is not a URL"],
  ["a person without the client", { refresh_token: "r" }, "client_id"],
  ["a refresh token that is no text", { ...person, refresh_token: 1 }, "/refresh_token"],
])("%s is refused by name, and no secret is quoted", (_, file, why) => {
  const reading = () => readCredentials(file);
  expect(reading).toThrow("GOOGLE_POSTMASTER_CREDENTIALS: ");
  expect(reading).toThrow(why);
  expect(reading).not.toThrow("BEGIN");
});
