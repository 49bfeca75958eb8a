/** Authentication at a smart host (RFC 4954): PLAIN (RFC 4616), or LOGIN if the server offers nothing better. */
import { isLoopback } from "#platform/network/public-address.ts";
import type { SmtpConnection } from "./connection.ts";
import { type Greeted, type OpenFailure, openFailure } from "./greeting.ts";
import type { SmtpFailure, SmtpRejection } from "./outcome.ts";
import { smtpFailure, unexpectedReply } from "./unexpected-reply.ts";

export interface SmtpCredentials {
  readonly user: string;
  readonly password: string;
}

/**
 * Authenticates if there are credentials. Returns null on success, otherwise the reason. The password is sent only to a
 * server whose certificate is verified, or to a loopback address.
 */
export async function logIn(
  connection: Pick<SmtpConnection, "ask">,
  { offers, tls }: Pick<Greeted, "offers" | "tls">,
  { credentials, address }: { readonly credentials?: SmtpCredentials | undefined; readonly address: string },
): Promise<OpenFailure | null> {
  if (credentials === undefined) return null;
  if (tls?.verified !== true && !isLoopback(address)) {
    const reason = tls ? "the server's certificate cannot be verified" : "the connection is not encrypted";
    return openFailure(smtpFailure("auth", { fault: "tls", reason: `no log-in: ${reason}` }));
  }
  const obstacle = await converse(connection, offers.auth, credentials);
  return obstacle && openFailure(obstacle);
}

async function converse(
  connection: Pick<SmtpConnection, "ask">,
  mechanisms: readonly string[],
  { user, password }: SmtpCredentials,
): Promise<SmtpRejection | SmtpFailure | null> {
  const say = (command: string) => connection.ask("auth", `${command}\r\n`);
  if (mechanisms.includes("PLAIN"))
    return unexpectedReply("auth", await say(`AUTH PLAIN ${base64(`\0${user}\0${password}`)}`));
  if (!mechanisms.includes("LOGIN"))
    return smtpFailure("auth", {
      fault: "protocol",
      reason: "the server offers neither AUTH PLAIN nor LOGIN",
    });
  for (const command of ["AUTH LOGIN", base64(user)]) {
    const reply = await say(command);
    // The text of the challenges is ignored: the first asks for the user name, the second for the password.
    if ("fault" in reply || reply.code !== 334) return unexpectedReply("auth", reply);
  }
  return unexpectedReply("auth", await say(base64(password)));
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
