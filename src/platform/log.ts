/** Structured logs, one JSON object a line on standard output, with secrets redacted by pino. */
import { type Logger, pino } from "pino";

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

/** Newlines and control characters in user data cannot forge a line: pino writes JSON, which escapes them. */
export function createLog(level: string): Log {
  return pino({
    level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: redacted, censor: "[redacted]" },
  });
}
