/**
 * Structured logs on standard output: lines of text at a terminal (terminal-lines.ts), one JSON object a line elsewhere.
 * Secrets are redacted by pino.
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

/** `auto`: text at a terminal, JSON elsewhere. */
export type LogFormat = "auto" | "json" | "text";

/** The destination of log lines, such as process.stdout. */
export interface LogOutput {
  readonly isTTY?: boolean;
  /** Whether it shows colours; false where the environment has NO_COLOR. */
  hasColors?(): boolean;
  write(text: string): unknown;
}

/** Line breaks in user data cannot forge log lines, because pino writes JSON, which escapes them. */
export function createLog(
  level: string,
  {
    format = "auto",
    output = process.stdout,
  }: { readonly format?: LogFormat; readonly output?: LogOutput } = {},
): Log {
  const options = {
    level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: describeError },
    redact: { paths: redacted, censor: "[redacted]" },
  };
  if (format === "text" || (format === "auto" && output.isTTY)) {
    const hasColours = output.isTTY === true && output.hasColors?.() === true;
    return pino(options, { write: (line: string) => void output.write(terminalLine(line, hasColours)) });
  }
  return output === process.stdout ? pino(options) : pino(options, output);
}
