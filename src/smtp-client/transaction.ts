/** One mail transaction on an open connection: MAIL, RCPT, DATA, the message (RFC 5321 section 3.3). */

import type { SmtpConnection } from "./connection.ts";
import { endOfData } from "./dot-stuffing.ts";
import type { EnvelopeCommands } from "./envelope-commands.ts";
import type { SmtpFailure, SmtpFault, SmtpRejection, TransactionResult, Withdrawn } from "./outcome.ts";
import { answerOf, quoteReply, type ServerReply } from "./reply-reader.ts";
import type { Transcript } from "./transcript.ts";
import { smtpFailure, unexpectedReply } from "./unexpected-reply.ts";

/** Larger bodies are written in blocks, each with its own deadline. */
const BLOCK = 262_144;

const withdrawal: SmtpFault = { fault: "closed", reason: "withdrawn before the final dot" };

/** How a transaction shares its connection with the next one. */
export interface TransactOptions {
  /** Whether the server offers PIPELINING: the envelope is then sent in one write. */
  readonly pipelining: boolean;
  /**
   * Called as soon as the next transaction may write. With pipelining this is right behind the body: RFC 2920 section
   * 3.1 lets the next envelope share a segment with it, which saves a round trip for each message.
   */
  readonly release: () => void;
  /** Asked right before the final dot. Without the dot the message is not delivered. */
  readonly isWanted: () => boolean;
}

/** What a transaction sends. */
interface TransactionContent {
  readonly envelope: EnvelopeCommands;
  /** The dot-stuffed message. */
  readonly body: Buffer;
  /** Size of the message before dot-stuffing. */
  readonly octets: number;
  readonly transcript: Transcript | undefined;
}

/** Runs a transaction to its result. */
export async function runTransaction(
  connection: SmtpConnection,
  content: TransactionContent,
  { pipelining, release, isWanted }: TransactOptions,
): Promise<TransactionResult | Withdrawn> {
  const { envelope, transcript } = content;
  const announced = pipelining
    ? await sendEnvelopePipelined(connection, envelope, transcript)
    : await sendEnvelopeStepwise(connection, envelope, transcript);
  if (announced.obstacle !== null) {
    await resetSession(connection, announced, pipelining);
    return announced.obstacle;
  }

  const answer = connection.expect("dot", transcript);
  const complete = await sendBody(connection, content, answer, isWanted);
  if (pipelining && complete) release();
  const reply = await answer;
  if (reply === withdrawal) return { outcome: "withdrawn" };
  if ("fault" in reply) return smtpFailure("dot", reply, complete);
  const obstacle = unexpectedReply("dot", reply, complete);
  if (!complete) {
    // The server would read the next command as part of the message.
    const early = {
      fault: "protocol",
      reason: `"${quoteReply(reply)}" before the end of the message`,
    } as const;
    connection.end(early);
    return obstacle ?? smtpFailure("dot", early);
  }
  if (obstacle?.outcome === "broken") connection.end(obstacle);
  return obstacle ?? { outcome: "accepted", ...answerOf(reply) };
}

/** The result of MAIL, RCPT and DATA. */
interface EnvelopeResult {
  /** The first rejection or failure; null if the server waits for the message. */
  readonly obstacle: SmtpRejection | SmtpFailure | null;
  /** The server has answered DATA with 354. */
  readonly invited: boolean;
}

async function sendEnvelopePipelined(
  connection: SmtpConnection,
  envelope: EnvelopeCommands,
  transcript: Transcript | undefined,
): Promise<EnvelopeResult> {
  if (connection.fault === null) {
    for (const command of [envelope.mail, envelope.rcpt, "DATA"]) transcript?.client(command.trimEnd());
  }
  connection.write(`${envelope.mail}${envelope.rcpt}DATA\r\n`);
  const replies = [
    connection.expect("mail", transcript),
    connection.expect("rcpt", transcript),
    connection.expect("data", transcript),
  ] as const;
  const mail = unexpectedReply("mail", await replies[0]);
  const rcpt = unexpectedReply("rcpt", await replies[1]);
  const data = unexpectedReply("data", await replies[2]);
  return { obstacle: mail ?? rcpt ?? data, invited: data === null };
}

async function sendEnvelopeStepwise(
  connection: SmtpConnection,
  envelope: EnvelopeCommands,
  transcript: Transcript | undefined,
): Promise<EnvelopeResult> {
  const steps = [
    ["mail", envelope.mail],
    ["rcpt", envelope.rcpt],
    ["data", "DATA\r\n"],
  ] as const;
  for (const [stage, command] of steps) {
    const obstacle = unexpectedReply(stage, await connection.ask(stage, command, transcript));
    if (obstacle !== null) return { obstacle, invited: false };
  }
  return { obstacle: null, invited: true };
}

/** Prepares the connection for the next transaction, or ends it if that is not possible. */
async function resetSession(
  connection: SmtpConnection,
  announced: EnvelopeResult,
  pipelining: boolean,
): Promise<void> {
  const { obstacle, invited } = announced;
  if (obstacle === null || connection.fault !== null) return;
  if (obstacle.outcome === "broken") return connection.end(obstacle);
  if (invited) {
    // RFC 2920 section 3.1: 354 although there is no recipient. A lone dot ends the empty message. If only MAIL was
    // refused, there
    // is a recipient, who must not get an empty message.
    if (obstacle.stage !== "rcpt")
      return connection.end({ fault: "protocol", reason: "354 after MAIL was refused" });
    void connection.ask("dot", endOfData);
  }
  const reset = connection.ask("reset", "RSET\r\n").then((reply) => {
    if ("fault" in reply || reply.code === 250) return;
    connection.end({ fault: "protocol", reason: `RSET refused: ${quoteReply(reply)}` });
  });
  if (!pipelining) await reset;
}

/**
 * Writes the message and its final dot. Returns false if the server replied, or the connection ended, before the end.
 */
async function sendBody(
  connection: SmtpConnection,
  { body, octets, transcript }: TransactionContent,
  answer: Promise<ServerReply | SmtpFault>,
  isWanted: () => boolean,
): Promise<boolean> {
  let sent = 0;
  for (; body.length - sent > BLOCK; sent += BLOCK) {
    // A server that has replied may have stopped reading; the kernel would then never take the block.
    await Promise.race([connection.writeBlock(body.subarray(sent, sent + BLOCK)), answer]);
    if (!connection.isOwedReply) {
      const most = Math.min(sent + BLOCK, octets);
      transcript?.note(`at most ${sized(most)} of ${sized(octets)} bytes of the message were sent`);
      return false;
    }
  }
  if (!isWanted()) connection.end(withdrawal);
  if (connection.fault === null) transcript?.client(`(message of ${sized(octets)} bytes)`);
  if (sent > 0) connection.allow("dot");
  connection.write(body.subarray(sent));
  connection.write(endOfData);
  return connection.fault === null;
}

function sized(octets: number): string {
  return octets.toLocaleString("en-US");
}
