/**
 * Asks spamd, the server of SpamAssassin, for the score of a mail: one REPORT request over TCP, by the protocol in
 * SpamAssassin's spamd/PROTOCOL. The answer is limited in size and time, and a fault is a value.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { connectionFault } from "#platform/network/explain-connection-fault.ts";

export interface SpamRule {
  readonly name: string;
  readonly points: number;
  readonly description: string;
}

export interface SpamReport {
  readonly outcome: "scored";
  readonly score: number;
  /** From this score on the scanner calls a mail spam. */
  readonly threshold: number;
  readonly isSpam: boolean;
  /** Those that matched, the one with most points first. */
  readonly rules: readonly SpamRule[];
}

/** The reason is a clause for people. */
export type SpamAnswer = SpamReport | { readonly outcome: "failed"; readonly reason: string };

/** spamd://host:port */
export interface SpamdServer {
  readonly host: string;
  readonly port: number;
}

const DEFAULT_PORT = 783;
/** A report has about 100 octets a rule. */
const MOST_OCTETS = 256 * 1024;
const MOST_RULES = 200;

export function readSpamdUrl({ hostname, port }: URL): SpamdServer {
  return { host: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? DEFAULT_PORT : Number(port) };
}

/** Never rejects. @param deadline for connecting and for the whole answer */
export async function askSpamd(
  { host, port }: SpamdServer,
  mail: Uint8Array,
  deadline: AbortSignal,
): Promise<SpamAnswer> {
  const socket = connect({ host, port });
  // An error after the answer must not end the process.
  socket.on("error", () => {});
  try {
    await once(socket, "connect", { signal: deadline });
    socket.write(`REPORT SPAMC/1.5\r\nContent-length: ${mail.length}\r\n\r\n`);
    // Ending the connection would let spamd give up, so only the length says where the mail ends.
    socket.write(mail);
    const answer = await readAnswer(socket, deadline);
    return answer === null ? failed("its answer is too long") : readReport(answer);
  } catch (fault) {
    if (deadline.aborted) return failed("it did not answer in time");
    return failed(fault instanceof Error ? connectionFault(fault) : "the connection failed");
  } finally {
    socket.destroy();
  }
}

const failed = (reason: string): SpamAnswer => ({ outcome: "failed", reason });

/** Everything until the server closes the connection; null if it is too long. */
async function readAnswer(socket: NodeJS.ReadableStream, deadline: AbortSignal): Promise<string | null> {
  const chunks: Buffer[] = [];
  let octets = 0;
  const onAbort = () => (socket as unknown as { destroy(fault: Error): void }).destroy(new Error("late"));
  deadline.addEventListener("abort", onAbort, { once: true });
  try {
    for await (const chunk of socket) {
      chunks.push(chunk as Buffer);
      octets += chunk.length;
      if (octets > MOST_OCTETS) return null;
    }
  } finally {
    deadline.removeEventListener("abort", onAbort);
  }
  return Buffer.concat(chunks).toString();
}

/**
 * The answer of spamd: `SPAMD/1.1 0 EX_OK`, the header `Spam: True ; 6.2 / 5.0`, and a table with points, rule name and
 * description.
 */
export function readReport(answer: string): SpamAnswer {
  const end = answer.search(/\r?\n\r?\n/);
  const head = end === -1 ? answer : answer.slice(0, end);
  const [, code, word = ""] = /^SPAMD\/[\d.]+ (\d+) (\S*)/.exec(head) ?? [];
  if (code === undefined)
    return failed(head === "" ? "it closed the connection" : "its answer is no answer of spamd");
  if (code !== "0") return failed(`it answered ${word.slice(0, 50)}`);
  const verdict = /^Spam:\s*(True|Yes|False|No)\s*;\s*(-?[\d.]+)\s*\/\s*(-?[\d.]+)/im.exec(head);
  const [, spam = "", score, threshold] = verdict ?? [];
  const figures = [Number(score ?? Number.NaN), Number(threshold ?? Number.NaN)] as const;
  if (!figures.every(Number.isFinite)) return failed("its answer has no score");
  return {
    outcome: "scored",
    score: figures[0],
    threshold: figures[1],
    isSpam: /^(?:true|yes)$/i.test(spam),
    rules: readRules(answer.slice(end)),
  };
}

/** Rows ` 1.2 RULE_NAME   text`, whose text may continue in lines that begin with blanks. */
function readRules(report: string): SpamRule[] {
  const rules: { name: string; points: number; description: string }[] = [];
  // The mail, whose beginning precedes the table, may have a line like this, too.
  for (const line of report.slice(report.lastIndexOf("pts rule name")).split(/\r?\n/).slice(2)) {
    const [, points, name, text = ""] = /^\s*(-?\d+(?:\.\d+)?)\s+([A-Z_][A-Z0-9_]*)\s*(.*)$/.exec(line) ?? [];
    if (points !== undefined && name !== undefined) {
      if (rules.length === MOST_RULES) break;
      rules.push({ name: name.slice(0, 100), points: Number(points), description: text.trim() });
    } else {
      const last = rules.at(-1);
      if (last !== undefined && /^\s+\S/.test(line)) last.description = `${last.description} ${line.trim()}`;
    }
  }
  return rules
    .map((rule) => ({
      ...rule,
      description: rule.description.slice(0, 500).toWellFormed().replaceAll("\0", ""),
    }))
    .sort((one, other) => other.points - one.points);
}
