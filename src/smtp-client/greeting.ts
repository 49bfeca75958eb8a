/** Opens an SMTP session: banner, EHLO or HELO, STARTTLS, and EHLO again. */
import type { SmtpConnection } from "./connection.ts";
import { type Extensions, parseExtensions } from "./extensions.ts";
import type { SmtpFailure, SmtpFault, SmtpRejection } from "./outcome.ts";
import { quoteAnswer } from "./reply-reader.ts";
import type { TlsOutcome, TlsTarget } from "./tls.ts";
import type { Transcript } from "./transcript.ts";
import { smtpFailure, unexpectedReply } from "./unexpected-reply.ts";

/**
 * When to use STARTTLS: if offered (opportunistic), always (fails if not offered), or never; or implicit TLS, which
 * submission servers offer on a port of its own (RFC 8314 section 3.3).
 */
export type TlsMode = "opportunistic" | "required" | "none" | "implicit";

/** How the session introduces itself and uses TLS. */
export interface Greeting {
  /** The EHLO name: an FQDN that resolves to our source address. */
  readonly ehloName: string;
  readonly tls: TlsMode;
}

/** The result of the opening: the server's extensions and the TLS session. */
export interface Greeted {
  readonly outcome: "greeted";
  readonly offers: Extensions;
  /** Null in clear text. */
  readonly tls: TlsOutcome | null;
}

/**
 * Why there is no session. `tlsFailed`: the opening failed in TLS, before the first good reply inside it. If the policy
 * allows clear text, the caller may try the same host again with `tls: "none"`.
 */
export type OpenFailure = (SmtpRejection | SmtpFailure) & { readonly tlsFailed: boolean };

/** Runs the opening on a new connection, up to the point where MAIL may be sent. */
export async function greet(
  connection: SmtpConnection,
  greeting: Greeting,
  tlsTarget: TlsTarget,
  transcript?: Transcript,
): Promise<Greeted | OpenFailure> {
  const wrapped = greeting.tls === "implicit" ? await secure(connection, tlsTarget, transcript) : null;
  if (wrapped !== null && "fault" in wrapped) return tlsFailure(wrapped);

  const unwelcome = unexpectedReply("banner", await connection.expect("banner", transcript));
  if (unwelcome !== null) return openFailure(unwelcome);

  const first = await hello(connection, "ehlo", greeting.ehloName, transcript);
  if ("outcome" in first) return openFailure(first);
  if (greeting.tls === "none" || wrapped !== null) return { outcome: "greeted", offers: first, tls: wrapped };
  if (!first.startTls) {
    if (greeting.tls === "opportunistic") return { outcome: "greeted", offers: first, tls: null };
    const reason = "STARTTLS is not offered";
    transcript?.note(reason);
    return tlsFailure({ fault: "tls", reason });
  }

  const reply = await connection.ask("starttls", "STARTTLS\r\n", transcript);
  const declined = unexpectedReply("starttls", reply);
  if (declined !== null) return failureAt("STARTTLS", declined);
  const tls = await secure(connection, tlsTarget, transcript);
  if ("fault" in tls) return tlsFailure(tls);

  // RFC 3207 section 4.2: the client discards everything it learned before the handshake.
  const offers = await hello(connection, "ehloUnderTls", greeting.ehloName, transcript);
  return "outcome" in offers ? failureAt("EHLO under TLS", offers) : { outcome: "greeted", offers, tls };
}

async function secure(
  connection: SmtpConnection,
  target: TlsTarget,
  transcript: Transcript | undefined,
): Promise<TlsOutcome | SmtpFault> {
  const tls = await connection.secure(target);
  const noted =
    "fault" in tls
      ? tls.reason
      : `${tls.protocol} with ${tls.cipher}, certificate ${tls.verified ? "verified" : "not verified"}`;
  transcript?.note(noted);
  return tls;
}

/** RFC 5321 section 3.2: HELO for servers that do not understand EHLO. */
async function hello(
  connection: SmtpConnection,
  step: "ehlo" | "ehloUnderTls",
  name: string,
  transcript: Transcript | undefined,
): Promise<Extensions | SmtpRejection | SmtpFailure> {
  let reply = await connection.ask(step, `EHLO ${name}\r\n`, transcript);
  if (!("fault" in reply) && reply.code >= 500) {
    reply = await connection.ask(step, `HELO ${name}\r\n`, transcript);
  }
  if ("fault" in reply) return smtpFailure("ehlo", reply);
  return unexpectedReply("ehlo", reply) ?? parseExtensions(reply);
}

/**
 * A refusal of STARTTLS, whatever its code, is not about the message or its recipient. The same holds for a 5xx to the
 * EHLO after it, because EHLO in clear text was accepted. A request to come back later is kept as a rejection: 421, and
 * any 4xx to that EHLO.
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

/** How TLS failed, for an opening with `tlsFailed`. */
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
