/** The opening of an SMTP session: banner, EHLO or HELO, STARTTLS and EHLO again. */
import type { SmtpConnection } from "./connection.ts";
import { type Extensions, parseExtensions } from "./extensions.ts";
import type { Broken, Fault, Refused } from "./outcome.ts";
import type { TlsOutcome, TlsTarget } from "./tls.ts";
import { broken, obstacleIn } from "./verdict.ts";

/**
 * Whether to use STARTTLS: when it is offered, always (fail where it is not), or never; or TLS from the first octet,
 * as submission servers have it on a port of its own (RFC 8314 section 3.3).
 */
export type TlsWish = "opportunistic" | "required" | "none" | "implicit";

export interface Greeting {
  /** The name we give: an FQDN that leads to our source address. */
  readonly ehloName: string;
  readonly tls: TlsWish;
}

/** What the two sides agreed on. */
export interface Greeted {
  readonly outcome: "greeted";
  readonly offers: Extensions;
  /** Null in clear text. */
  readonly tls: TlsOutcome | null;
}

/**
 * Why there is no session. `tlsFailed`: TLS was the obstacle, so where policy allows clear text the same host may be
 * tried again with `tls: "none"`.
 */
export type OpenFailure = (Refused | Broken) & { readonly tlsFailed: boolean };

/** Brings a fresh connection to where MAIL may be said. */
export async function greet(
  connection: SmtpConnection,
  greeting: Greeting,
  tlsTarget: TlsTarget,
): Promise<Greeted | OpenFailure> {
  const wrapped = greeting.tls === "implicit" ? await connection.secure(tlsTarget) : null;
  if (wrapped !== null && "fault" in wrapped) return tlsFailure(wrapped);

  const unwelcome = obstacleIn("banner", await connection.expect("banner"));
  if (unwelcome !== null) return failure(unwelcome);

  const first = await hello(connection, greeting.ehloName);
  if ("outcome" in first) return failure(first);
  if (greeting.tls === "none" || wrapped !== null) return { outcome: "greeted", offers: first, tls: wrapped };
  if (!first.startTls) {
    if (greeting.tls === "opportunistic") return { outcome: "greeted", offers: first, tls: null };
    return tlsFailure({ fault: "tls", reason: "TLS is required and STARTTLS is not offered" });
  }

  const declined = obstacleIn("starttls", await connection.ask("starttls", "STARTTLS\r\n"));
  if (declined !== null) return declinedTls(declined);
  const tls = await connection.secure(tlsTarget);
  if ("fault" in tls) return tlsFailure(tls);

  // RFC 3207 section 4.2: nothing heard before the handshake counts any more.
  const offers = await hello(connection, greeting.ehloName);
  return "outcome" in offers ? failure(offers) : { outcome: "greeted", offers, tls };
}

/** RFC 5321 section 3.2: HELO for servers that do not understand EHLO. */
async function hello(connection: SmtpConnection, name: string): Promise<Extensions | Refused | Broken> {
  let reply = await connection.ask("ehlo", `EHLO ${name}\r\n`);
  if (!("fault" in reply) && reply.code >= 500) reply = await connection.ask("ehlo", `HELO ${name}\r\n`);
  if ("fault" in reply) return broken("ehlo", reply);
  return obstacleIn("ehlo", reply) ?? parseExtensions(reply);
}

/** Whatever its code, a no to STARTTLS says nothing about the message or its recipient; 421 is a no to everything. */
function declinedTls(declined: Refused | Broken): OpenFailure {
  if (declined.outcome === "broken" || declined.code === 421) return failure(declined);
  return tlsFailure({ fault: "tls", reason: `STARTTLS refused: ${declined.code} ${declined.text}` });
}

export function failure(obstacle: Refused | Broken, tlsFailed = false): OpenFailure {
  return { ...obstacle, tlsFailed };
}

function tlsFailure(fault: Fault): OpenFailure {
  return failure(broken("starttls", fault), true);
}
