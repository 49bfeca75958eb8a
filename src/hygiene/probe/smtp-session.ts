import type { SecureContext } from "node:tls";
import { SmtpConnection, type TcpTarget } from "#smtp-client/connection.ts";
import type { SmtpDeadlines } from "#smtp-client/deadlines.ts";
import { fitsCommand } from "#smtp-client/envelope-commands.ts";
import type { Extensions } from "#smtp-client/extensions.ts";
import { greet, type OpenFailure, type TlsMode, tlsFaultOf } from "#smtp-client/greeting.ts";
import type { SmtpFault, SmtpStage } from "#smtp-client/outcome.ts";
import { answerOf } from "#smtp-client/reply-reader.ts";
import { unexpectedReply } from "#smtp-client/unexpected-reply.ts";
import type { ProbeDeadline } from "./probe-deadline.ts";
import { type ReplyResult, resultOfFault, resultOfReply, unanswered } from "./reply-result.ts";

export interface ProbeSessionOptions extends TcpTarget {
  /** The name of the mail host. */
  readonly host: string;
  readonly ehloName: string;
  readonly tls: Extract<TlsMode, "opportunistic" | "none">;
  readonly secureContext?: SecureContext | undefined;
  readonly deadlines: SmtpDeadlines;
  readonly deadline: ProbeDeadline;
}

export interface ProbeRecipients {
  readonly addresses: readonly string[];
  /**
   * The catch-all test: an address with a random local part, which no mailbox has. It is asked about when another address
   * was accepted. Null: no test.
   */
  readonly randomRecipient: string | null;
}

/** The session ended before RCPT. */
export interface BrokenSession {
  readonly outcome: "broken";
  readonly stage: SmtpStage;
  readonly fault: SmtpFault;
  /** The host may answer without TLS. */
  readonly tlsFailed: boolean;
}

/** The host refused the session or MAIL. */
export interface RefusedSession {
  readonly outcome: "refused";
  readonly reply: ReplyResult;
  readonly tls: boolean;
}

/** The host answered RCPT. */
export interface AnsweredSession {
  readonly outcome: "answered";
  /** In the order of the addresses. */
  readonly replies: readonly ReplyResult[];
  /** The reply about the random recipient; null when it was not asked about. */
  readonly randomReply: ReplyResult | null;
  readonly tls: boolean;
}

export type ProbeSession = BrokenSession | RefusedSession | AnsweredSession;

/**
 * One SMTP session of a probe: greeting, MAIL with the null sender, RCPT for each address, QUIT. It never sends DATA, so
 * that no message can result. Ends `quitMs` after the deadline at the latest, QUIT included; never rejects.
 */
export async function runSession(
  options: ProbeSessionOptions,
  recipients: ProbeRecipients,
): Promise<ProbeSession> {
  const { deadline, host: servername, secureContext } = options;
  const opening = SmtpConnection.open(options, options.deadlines);
  const connection = await deadline.race(opening);
  if (!(connection instanceof SmtpConnection)) {
    void opening.then((late) => late instanceof SmtpConnection && late.end(connection));
    return { outcome: "broken", stage: "connect", fault: connection, tlsFailed: false };
  }

  // Without QUIT: before the end of the greeting, and within a TLS handshake, the host does not expect one.
  const removeListener = deadline.onExpire((fault) => connection.end(fault));
  const greeted = await greet(connection, options, { servername, secureContext });
  removeListener();
  if (greeted.outcome === "broken" || (greeted.outcome === "refused" && greeted.tlsFailed)) {
    const fault = deadline.fault ?? faultOf(greeted);
    connection.end(fault);
    return { outcome: "broken", stage: greeted.stage, fault, tlsFailed: greeted.tlsFailed };
  }
  const result =
    greeted.outcome === "refused"
      ? { outcome: "refused" as const, reply: resultOfReply(greeted, greeted.stage), tls: false }
      : await askAbout(
          recipients,
          new ProbeTransaction(connection, deadline),
          greeted.offers,
          greeted.tls !== null,
        );
  const isPipelining = greeted.outcome === "greeted" && greeted.offers.pipelining;
  await quit(connection, isPipelining, deadline.quitMs);
  return result;
}

/** A refusal at TLS counts as a TLS fault: the host may answer without TLS. */
function faultOf(failed: OpenFailure): SmtpFault {
  return failed.outcome === "broken" ? failed : { fault: "tls", reason: tlsFaultOf(failed) };
}

async function askAbout(
  { addresses, randomRecipient }: ProbeRecipients,
  transaction: ProbeTransaction,
  { smtpUtf8 }: Extensions,
  tls: boolean,
): Promise<ProbeSession> {
  const utf8 = smtpUtf8 && !addresses.every(isAscii);
  const failure = await transaction.mail(utf8);
  if (failure !== null) return "outcome" in failure ? failure : { outcome: "refused", reply: failure, tls };

  const replies: ReplyResult[] = [];
  for (const address of addresses) {
    const isAskable = fitsCommand(address) && (utf8 || isAscii(address));
    replies.push(isAskable ? await transaction.rcpt(address) : UNASKABLE);
  }
  const wasAccepted = replies.some(({ result }) => result === "accepted");
  const randomReply =
    randomRecipient !== null && wasAccepted ? await transaction.rcpt(randomRecipient) : null;
  return { outcome: "answered", replies, randomReply, tls };
}

/** MAIL and RCPT of one session, until the connection or the probe's time has ended. */
class ProbeTransaction {
  readonly #connection: SmtpConnection;
  readonly #deadline: ProbeDeadline;
  /** The result of every further RCPT, once nothing more can be asked. */
  #final: ReplyResult | null = null;

  constructor(connection: SmtpConnection, deadline: ProbeDeadline) {
    this.#connection = connection;
    this.#deadline = deadline;
  }

  /** Null when RCPT may follow. */
  async mail(utf8: boolean): Promise<ReplyResult | BrokenSession | null> {
    const reply = await this.#ask("mail", `MAIL FROM:<>${utf8 ? " SMTPUTF8" : ""}\r\n`);
    const obstacle = unexpectedReply("mail", reply);
    if (obstacle?.outcome !== "broken") return obstacle && resultOfReply(obstacle, "mail");
    return { outcome: "broken", stage: "mail", fault: obstacle, tlsFailed: false };
  }

  async rcpt(address: string): Promise<ReplyResult> {
    if (this.#final !== null) return this.#final;
    const reply = await this.#ask("rcpt", `RCPT TO:<${address}>\r\n`);
    const result = "fault" in reply ? resultOfFault(reply) : resultOfReply(answerOf(reply), "rcpt");
    if ("fault" in reply || reply.code === 421) this.#final = result;
    return result;
  }

  #ask(step: "mail" | "rcpt", command: string) {
    return this.#deadline.race(this.#connection.ask(step, command));
  }
}

/** RSET is sent before QUIT only to hosts with PIPELINING (RFC 2920); for others QUIT alone ends the transaction. */
async function quit(connection: SmtpConnection, isPipelining: boolean, quitMs: number): Promise<void> {
  const ended: SmtpFault = { fault: "closed", reason: "the probe has ended" };
  const timer = setTimeout(() => connection.end(ended), quitMs);
  if (isPipelining) void connection.ask("reset", "RSET\r\n");
  await connection.ask("quit", "QUIT\r\n");
  clearTimeout(timer);
  connection.end(ended);
}

const UNASKABLE = unanswered(
  "unaskable",
  "the address cannot be written in the commands this host understands",
);

function isAscii(address: string): boolean {
  return /^[ -~]*$/.test(address);
}
