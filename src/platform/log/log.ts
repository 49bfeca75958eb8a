/**
 * Structured logs on standard output: one JSON object a line, or lines for a person where that is a terminal. Secrets are
 * redacted by pino.
 */
import { type Logger, pino } from "pino";
import { describeFault } from "./log-fault.ts";
import { readable } from "./log-lines.ts";

export type Log = Logger;

/** Where secrets could stand in what we log. Request headers are never logged whole; this is the second net. */
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

/** Where lines go; process.stdout is one. */
export interface LogOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Newlines and control characters in user data cannot forge a line: pino writes JSON, which escapes them. */
export function createLog(level: string, output: LogOutput = process.stdout): Log {
  const options = {
    level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: describeFault },
    redact: { paths: redacted, censor: "[redacted]" },
  };
  if (output.isTTY) return pino(options, { write: (line: string) => void output.write(readable(line)) });
  return output === process.stdout ? pino(options) : pino(options, output);
}
