/** Logging in at a smart host (RFC 4954): PLAIN (RFC 4616), or LOGIN where a server has nothing better. */
import { isLoopback } from "#platform/network/public-address.ts";
import type { SmtpConnection } from "./connection.ts";
import { smtpFailure, unexpectedReply } from "./expected-reply.ts";
import { type Greeted, type OpenFailure, openFailure } from "./greeting.ts";
import type { SmtpFailure, SmtpRejection } from "./outcome.ts";

export interface SmtpCredentials {
  readonly user: string;
  readonly password: string;
}

/**
 * Logs in when there are credentials; answers why it could not. The password is told only to a server whose
 * certificate has been verified, and to this machine itself.
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
    // What the challenge says is of no interest: it asks for the user name, then for the password.
    if ("fault" in reply || reply.code !== 334) return unexpectedReply("auth", reply);
  }
  return unexpectedReply("auth", await say(base64(password)));
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
