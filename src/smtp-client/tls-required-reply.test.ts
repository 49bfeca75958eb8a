import { describe, expect, test } from "vitest";
import { demandsTls } from "./tls-required-reply.ts";

/** The reply in a line of a server. */
function answer(line: string) {
  const [, code, enhanced = null, text = ""] = /^(\d{3})(?: (\d\.\d+\.\d+))? (.*)$/.exec(line) ?? [];
  return { code: Number(code), enhanced, text };
}

describe("a rejection in clear text", () => {
  test.each([
    "530 5.7.0 Must issue a STARTTLS command first",
    "530 Must issue a STARTTLS command first",
    "523 Encryption needed",
    "554 5.7.10 Not like this",
    "538 5.7.11 Not like this",
    "550 5.7.1 TLS required",
    "550 5.7.1 This server requires SSL/TLS",
    "550 5.7.1 TLSv1.2 or higher is required",
    "554 5.7.1 Mail for this domain needs a secure connection",
    "554 5.7.0 Session encryption is required by policy, see https://help.example/ssl",
    "550 Only TLS connections are accepted here",
    "550 5.7.1 Unencrypted connections are not accepted",
    "550 5.7.1 Cleartext sessions are not allowed",
    "550 5.7.1 Verschluesselung erforderlich",
    "550 5.7.1 Verschlüsselte Verbindung notwendig",
    "550 5.7.1 Connexion chiffrée obligatoire",
    "550 5.7.1 Se requiere TLS",
    "550 5.7.1 Wymagane szyfrowanie",
    "550 5.7.1 Требуется шифрование",
    "550 5.7.1 必须使用加密连接",
    "450 4.7.1 TLS required",
    "454 4.7.0 No mail without encryption",
  ])("demands TLS: %s", (line) => {
    expect(demandsTls(answer(line))).toBe(true);
  });

  test.each([
    "550 5.1.1 <ssl@example.com> user unknown",
    "550 5.1.1 <anna@tls.example>: no such user",
    "550 5.1.1 TLS is required, and there is no such user",
    "530 5.1.1 No such user",
    "552 5.2.2 Mailbox full, encryption required",
    "450 4.2.0 <ssl@example.com>: greylisted",
    "550 <ssl@example.com> user unknown",
    "550 ssl@tls.example must be a member of this list",
    "554 5.7.1 ssl.example.com must have a PTR record",
    "554 5.7.1 Refused, the rules you must follow: https://mail.example/tls",
    "450 4.7.1 mx.ssl.example is rate limited",
    "554 5.7.1 encrypted archives are not accepted",
    "554 5.7.1 Attachments must not be encrypted",
    "554 5.7.1 Encrypted attachments require prior approval",
    "550 5.7.1 Message blocked by our SSL inspection",
    "550 5.7.1 Verschlüsselte Archive müssen angemeldet werden",
  ])("does not demand TLS: %s", (line) => {
    expect(demandsTls(answer(line))).toBe(false);
  });
});
