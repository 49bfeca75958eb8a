/** Reads the URL of a smart host: RELAY_URL, or the relay_url of a routing rule. */
import type { SmtpCredentials } from "#smtp-client/auth.ts";

const SMTP = 25;
const SMTPS = 465;

export interface Relay {
  /** A name or an address, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** TLS from the first octet. */
  readonly implicitTls: boolean;
  readonly credentials: SmtpCredentials | undefined;
}

/** @param url `smtp://user:password@host:port`, or `smtps:` for implicit TLS; user and password percent-encoded. */
export function readRelay({ protocol, hostname, port, username, password }: URL): Relay {
  const implicitTls = protocol === "smtps:";
  return {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port) || (implicitTls ? SMTPS : SMTP),
    implicitTls,
    credentials: username === "" ? undefined : { user: decoded(username), password: decoded(password) },
  };
}

/** A text that is not valid percent-encoding is taken literally. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
