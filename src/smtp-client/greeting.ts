/** The opening of an SMTP session: banner, EHLO or HELO, STARTTLS and EHLO again. */
import type { SmtpConnection } from "./connection.ts";
import { smtpFailure, unexpectedReply } from "./expected-reply.ts";
import { type Extensions, parseExtensions } from "./extensions.ts";
import type { SmtpFailure, SmtpFault, SmtpRejection } from "./outcome.ts";
import { quoteAnswer } from "./reply-reader.ts";
import type { TlsOutcome, TlsTarget } from "./tls.ts";

/**
 * Whether to use STARTTLS: when it is offered, always (fail where it is not), or never; or TLS from the first octet,
 * as submission servers have it on a port of its own (RFC 8314 section 3.3).
 */
export type TlsMode = "opportunistic" | "required" | "none" | "implicit";

export interface Greeting {
  /** The name we give: an FQDN that leads to our source address. */
  readonly ehloName: string;
  readonly tls: TlsMode;
}

/** What the two sides agreed on. */
export interface Greeted {
  readonly outcome: "greeted";
  readonly offers: Extensions;
  /** Null in clear text. */
  readonly tls: TlsOutcome | null;
}

/**
 * Why there is no session. `tlsFailed`: TLS, or all there was of it before the first good answer under it, was the
 * obstacle, so where policy allows clear text the same host may be tried again with `tls: "none"`.
 */
export type OpenFailure = (SmtpRejection | SmtpFailure) & { readonly tlsFailed: boolean };

/** Brings a fresh connection to where MAIL may be said. */
export async function greet(
  connection: SmtpConnection,
  greeting: Greeting,
  tlsTarget: TlsTarget,
): Promise<Greeted | OpenFailure> {
  const wrapped = greeting.tls === "implicit" ? await connection.secure(tlsTarget) : null;
  if (wrapped !== null && "fault" in wrapped) return tlsFailure(wrapped);

  const unwelcome = unexpectedReply("banner", await connection.expect("banner"));
  if (unwelcome !== null) return openFailure(unwelcome);

  const first = await hello(connection, "ehlo", greeting.ehloName);
  if ("outcome" in first) return openFailure(first);
  if (greeting.tls === "none" || wrapped !== null) return { outcome: "greeted", offers: first, tls: wrapped };
  if (!first.startTls) {
    if (greeting.tls === "opportunistic") return { outcome: "greeted", offers: first, tls: null };
    return tlsFailure({ fault: "tls", reason: "STARTTLS is not offered" });
  }

  const declined = unexpectedReply("starttls", await connection.ask("starttls", "STARTTLS\r\n"));
  if (declined !== null) return failureAt("STARTTLS", declined);
  const tls = await connection.secure(tlsTarget);
  if ("fault" in tls) return tlsFailure(tls);

  // RFC 3207 section 4.2: nothing heard before the handshake counts any more.
  const offers = await hello(connection, "ehloUnderTls", greeting.ehloName);
  return "outcome" in offers ? failureAt("EHLO under TLS", offers) : { outcome: "greeted", offers, tls };
}

/** RFC 5321 section 3.2: HELO for servers that do not understand EHLO. */
async function hello(
  connection: SmtpConnection,
  step: "ehlo" | "ehloUnderTls",
  name: string,
): Promise<Extensions | SmtpRejection | SmtpFailure> {
  let reply = await connection.ask(step, `EHLO ${name}\r\n`);
  if (!("fault" in reply) && reply.code >= 500) reply = await connection.ask(step, `HELO ${name}\r\n`);
  if ("fault" in reply) return smtpFailure("ehlo", reply);
  return unexpectedReply("ehlo", reply) ?? parseExtensions(reply);
}

/**
 * Whatever its code, a refusal of STARTTLS says nothing about the message or its recipient, nor does a 5xx to the EHLO
 * after it, since the one in clear text was answered. What asks us to come back later keeps its words: 421, and any 4xx
 * to that EHLO.
 */
function failureAt(step: "STARTTLS" | "EHLO under TLS", obstacle: SmtpRejection | SmtpFailure): OpenFailure {
  if (obstacle.outcome === "broken") {
    const { fault, reason } = obstacle;
    return fault === "timeout"
      ? tlsFailure({ fault, reason: `${step} failed: no answer in time` })
      : tlsFailure({ fault: "tls", reason: `${step} failed: ${reason}` });
  }
  const isLater = obstacle.code === 421 || (obstacle.code < 500 && step !== "STARTTLS");
  if (isLater) return openFailure(obstacle, true);
  return tlsFailure({ fault: "tls", reason: refusalOf(step, obstacle) });
}

function refusalOf(step: string, answer: SmtpRejection): string {
  return `${step} refused: ${quoteAnswer(answer)}`;
}

/** Of an opening that failed because of TLS: how. */
export function tlsFaultOf(failed: OpenFailure): string {
  if (failed.outcome === "broken") return failed.reason;
  return refusalOf(failed.stage === "starttls" ? "STARTTLS" : "EHLO under TLS", failed);
}

export function openFailure(obstacle: SmtpRejection | SmtpFailure, tlsFailed = false): OpenFailure {
  return { ...obstacle, tlsFailed };
}

function tlsFailure(fault: SmtpFault): OpenFailure {
  return openFailure(smtpFailure("starttls", fault), true);
}
