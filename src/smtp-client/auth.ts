/** Authentication at a smart host (RFC 4954): PLAIN (RFC 4616), or LOGIN if the server offers nothing better. */
import { isLoopback } from "#platform/network/public-address.ts";
import type { SmtpConnection } from "./connection.ts";
import { type Greeted, type OpenFailure, openFailure } from "./greeting.ts";
import type { SmtpFailure, SmtpRejection } from "./outcome.ts";
import type { Transcript } from "./transcript.ts";
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
  transcript?: Transcript,
): Promise<OpenFailure | null> {
  if (credentials === undefined) return null;
  if (tls?.verified !== true && !isLoopback(address)) {
    const why = tls ? "the server's certificate cannot be verified" : "the connection is not encrypted";
    const reason = `no log-in: ${why}`;
    transcript?.note(reason);
    return openFailure(smtpFailure("auth", { fault: "tls", reason }));
  }
  const obstacle = await converse(connection, offers.auth, credentials, transcript);
  return obstacle && openFailure(obstacle);
}

async function converse(
  connection: Pick<SmtpConnection, "ask">,
  mechanisms: readonly string[],
  { user, password }: SmtpCredentials,
  transcript: Transcript | undefined,
): Promise<SmtpRejection | SmtpFailure | null> {
  const say = (command: string, shown: string) => connection.ask("auth", `${command}\r\n`, transcript, shown);
  if (mechanisms.includes("PLAIN")) {
    const initial = base64(`\0${user}\0${password}`);
    return unexpectedReply("auth", await say(`AUTH PLAIN ${initial}`, "AUTH PLAIN (credentials left out)"));
  }
  if (!mechanisms.includes("LOGIN")) {
    const reason = "the server offers neither AUTH PLAIN nor LOGIN";
    transcript?.note(reason);
    return smtpFailure("auth", { fault: "protocol", reason });
  }
  for (const [command, shown] of [
    ["AUTH LOGIN", "AUTH LOGIN"],
    [base64(user), "(user name left out)"],
  ] as const) {
    const reply = await say(command, shown);
    // The text of the challenges is ignored: the first asks for the user name, the second for the password.
    if ("fault" in reply || reply.code !== 334) return unexpectedReply("auth", reply);
  }
  return unexpectedReply("auth", await say(base64(password), "(password left out)"));
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
