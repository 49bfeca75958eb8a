/**
 * One probe's conversation with one host: greeting, MAIL with the null sender, RCPT for each address, QUIT. There is
 * no DATA in it, so that no message can come of it.
 */
import type { SecureContext } from "node:tls";
import { SmtpConnection, type TcpTarget } from "#smtp-client/connection.ts";
import type { SmtpDeadlines } from "#smtp-client/deadlines.ts";
import { fitsCommand } from "#smtp-client/envelope.ts";
import { unexpectedReply } from "#smtp-client/expected-reply.ts";
import type { Extensions } from "#smtp-client/extensions.ts";
import { greet, type OpenFailure, type TlsMode, tlsFaultOf } from "#smtp-client/greeting.ts";
import type { SmtpFault, SmtpStage } from "#smtp-client/outcome.ts";
import { answerOf } from "#smtp-client/reply-reader.ts";
import type { CutOff } from "./cut-off.ts";
import { unanswered, type Verdict, verdictOn, verdictOnSilence } from "./reply-result.ts";

export interface ConversationOptions extends TcpTarget {
  /** The name of the mail host. */
  readonly host: string;
  readonly ehloName: string;
  readonly tls: Extract<TlsMode, "opportunistic" | "none">;
  readonly secureContext?: SecureContext | undefined;
  readonly deadlines: SmtpDeadlines;
  readonly cutOff: CutOff;
}

/** Whom to ask about. */
export interface Asking {
  readonly addresses: readonly string[];
  /** An address that nobody can have, asked when another was accepted; null leaves the catch-all test out. */
  readonly stranger: string | null;
}

/** The conversation ended before anybody was asked about. */
export interface Broken {
  readonly outcome: "broken";
  readonly stage: SmtpStage;
  readonly fault: SmtpFault;
  /** Without TLS the same host may answer. */
  readonly tlsFailed: boolean;
}

/** The host would not hear any question. */
export interface Refused {
  readonly outcome: "refused";
  readonly verdict: Verdict;
  readonly tls: boolean;
}

export interface Asked {
  readonly outcome: "asked";
  /** In the order of the addresses. */
  readonly verdicts: readonly Verdict[];
  /** Null when it was not asked about. */
  readonly stranger: Verdict | null;
  readonly tls: boolean;
}

/** Holds the conversation. Over, QUIT included, `farewellMs` after the cut-off at the latest; never rejects. */
export async function converse(
  options: ConversationOptions,
  asking: Asking,
): Promise<Broken | Refused | Asked> {
  const { cutOff, host: servername, secureContext } = options;
  const opening = SmtpConnection.open(options, options.deadlines);
  const connection = await cutOff.race(opening);
  if (!(connection instanceof SmtpConnection)) {
    void opening.then((late) => late instanceof SmtpConnection && late.end(connection));
    return { outcome: "broken", stage: "connect", fault: connection, tlsFailed: false };
  }

  // Before there is a session, in the middle of a handshake even, nobody would understand a QUIT.
  const stopListening = cutOff.listen((fault) => connection.end(fault));
  const greeted = await greet(connection, options, { servername, secureContext });
  stopListening();
  if (greeted.outcome === "broken" || (greeted.outcome === "refused" && greeted.tlsFailed)) {
    const fault = cutOff.fault ?? faultOf(greeted);
    connection.end(fault);
    return { outcome: "broken", stage: greeted.stage, fault, tlsFailed: greeted.tlsFailed };
  }
  const result =
    greeted.outcome === "refused"
      ? { outcome: "refused" as const, verdict: verdictOn(greeted, greeted.stage), tls: false }
      : await ask(new Questions(connection, cutOff), greeted.offers, greeted.tls !== null, asking);
  const isPipelining = greeted.outcome === "greeted" && greeted.offers.pipelining;
  await leave(connection, isPipelining, cutOff.farewellMs);
  return result;
}

/** A host that refuses because of TLS may answer without it. */
function faultOf(failed: OpenFailure): SmtpFault {
  return failed.outcome === "broken" ? failed : { fault: "tls", reason: tlsFaultOf(failed) };
}

async function ask(
  questions: Questions,
  { smtpUtf8 }: Extensions,
  tls: boolean,
  { addresses, stranger }: Asking,
): Promise<Broken | Refused | Asked> {
  const utf8 = smtpUtf8 && !addresses.every(isPlain);
  const refusal = await questions.mail(utf8);
  if (refusal !== null) return "outcome" in refusal ? refusal : { outcome: "refused", verdict: refusal, tls };

  const verdicts: Verdict[] = [];
  for (const address of addresses) {
    const isAskable = fitsCommand(address) && (utf8 || isPlain(address));
    verdicts.push(isAskable ? await questions.rcpt(address) : UNASKABLE);
  }
  const wasAccepted = verdicts.some(({ result }) => result === "accepted");
  const onStranger = stranger !== null && wasAccepted ? await questions.rcpt(stranger) : null;
  return { outcome: "asked", verdicts, stranger: onStranger, tls };
}

/** The commands of one transaction, until the connection or the time has ended. */
class Questions {
  readonly #connection: SmtpConnection;
  readonly #cutOff: CutOff;
  /** What holds for every question that is left. */
  #last: Verdict | null = null;

  constructor(connection: SmtpConnection, cutOff: CutOff) {
    this.#connection = connection;
    this.#cutOff = cutOff;
  }

  /** Null when RCPT may follow. */
  async mail(utf8: boolean): Promise<Verdict | Broken | null> {
    const reply = await this.#ask("mail", `MAIL FROM:<>${utf8 ? " SMTPUTF8" : ""}\r\n`);
    const obstacle = unexpectedReply("mail", reply);
    if (obstacle?.outcome !== "broken") return obstacle && verdictOn(obstacle, "mail");
    return { outcome: "broken", stage: "mail", fault: obstacle, tlsFailed: false };
  }

  async rcpt(address: string): Promise<Verdict> {
    if (this.#last !== null) return this.#last;
    const reply = await this.#ask("rcpt", `RCPT TO:<${address}>\r\n`);
    const verdict = "fault" in reply ? verdictOnSilence(reply) : verdictOn(answerOf(reply), "rcpt");
    if ("fault" in reply || reply.code === 421) this.#last = verdict;
    return verdict;
  }

  #ask(step: "mail" | "rcpt", command: string) {
    return this.#cutOff.race(this.#connection.ask(step, command));
  }
}

/** QUIT alone ends the transaction, too, where two commands at once are not understood (RFC 2920). */
async function leave(connection: SmtpConnection, isPipelining: boolean, farewellMs: number): Promise<void> {
  const gone: SmtpFault = { fault: "closed", reason: "the probe is over" };
  const timer = setTimeout(() => connection.end(gone), farewellMs);
  if (isPipelining) void connection.ask("reset", "RSET\r\n");
  await connection.ask("quit", "QUIT\r\n");
  clearTimeout(timer);
  connection.end(gone);
}

const UNASKABLE = unanswered(
  "unaskable",
  "the address cannot be written in the commands this host understands",
);

function isPlain(address: string): boolean {
  return /^[ -~]*$/.test(address);
}
