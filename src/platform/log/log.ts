/**
 * Structured logs on standard output: one JSON object a line, or terminalLine lines on a terminal. Secrets are redacted
 * by pino.
 */
import { type Logger, pino } from "pino";
import { describeError } from "./describe-error.ts";
import { terminalLine } from "./terminal-lines.ts";

export type Log = Logger;

/** Paths of possible secrets. Request headers are never logged as a whole; this is a second safeguard. */
const redacted = [
  "key",
  "password",
  "secret",
  "authorization",
  "private_key",
  '*["x-api-key"]',
  "*.authorization",
  "*.password",
  "*.private_key",
  "*.key",
];

/** The destination of log lines, such as process.stdout. */
export interface LogOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Line breaks in user data cannot forge log lines, because pino writes JSON, which escapes them. */
export function createLog(level: string, output: LogOutput = process.stdout): Log {
  const options = {
    level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: describeError },
    redact: { paths: redacted, censor: "[redacted]" },
  };
  if (output.isTTY) return pino(options, { write: (line: string) => void output.write(terminalLine(line)) });
  return output === process.stdout ? pino(options) : pino(options, output);
}
