/** Formats log lines for a terminal: time, level, message and fields. */

const faultFields = new Set(["type", "message", "stack", "cause"]);
/** Fields that are not shown as fields. */
const leftOut = new Set(["level", "time", "pid", "msg", "err"]);

/** @param line JSON from pino; any other line is returned unchanged */
export function terminalLine(line: string): string {
  let entry: Readonly<Record<string, unknown>>;
  try {
    entry = JSON.parse(line);
  } catch {
    return line;
  }
  const { level, time, msg, err } = entry;
  const clock = typeof time === "string" ? `${new Date(time).toLocaleTimeString("en-GB")}  ` : "";
  const fields = Object.entries(entry).filter(([name]) => !leftOut.has(name));
  const words = [printable(textOf(msg)), ...fields.map(([name, value]) => `${name}=${shown(value)}`)];
  return `${clock}${textOf(level).toUpperCase().padEnd(5)}  ${words.join("  ")}\n${faultLines(err, "  ")}`;
}

function faultLines(err: unknown, indent: string): string {
  if (typeof err !== "object" || err === null) return err === undefined ? "" : `${indent}${shown(err)}\n`;
  const { type, message, stack, cause, ...rest } = err as Readonly<Record<string, unknown>>;
  const head = typeof stack === "string" ? stack : `${textOf(type)}: ${textOf(message)}`;
  const more = Object.entries(rest)
    .filter(([name]) => !faultFields.has(name))
    .map(([name, value]) => `${name}=${shown(value)}`);
  const lines = [...head.split("\n"), ...(more.length > 0 ? [more.join("  ")] : [])];
  const own = lines.map((line) => `${indent}${printable(line)}\n`).join("");
  return cause === undefined ? own : `${own}${indent}caused by\n${faultLines(cause, `${indent}  `)}`;
}

function shown(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return printable(typeof value === "string" && /[\s"=]/.test(text) ? JSON.stringify(text) : text);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Replaces control characters, so that user data cannot control the terminal. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, "?");
}
