/** Formats log lines for people: time, level, message and fields, in columns, with colours where they are shown. */
import { styleText } from "node:util";

const faultFields = new Set(["type", "message", "stack", "cause"]);
/** Fields that are not shown as fields. */
const leftOut = new Set(["level", "time", "pid", "msg", "err"]);

/** Fields begin at the same column unless a message is longer. */
const MESSAGE_WIDTH = 36;

const levelColours = new Map([
  ["fatal", "red"],
  ["error", "red"],
  ["warn", "yellow"],
  ["info", "green"],
] as const);

/** @param line JSON from pino; any other line is returned unchanged */
export function terminalLine(line: string, hasColours = false): string {
  let entry: Readonly<Record<string, unknown>>;
  try {
    entry = JSON.parse(line);
  } catch {
    return line;
  }
  const { level, time, msg, err } = entry;
  const paint = (style: Parameters<typeof styleText>[0], text: string) =>
    hasColours ? styleText(style, text, { validateStream: false }) : text;
  const clock = typeof time === "string" ? new Date(time).toLocaleTimeString("en-GB") : "";
  const name = textOf(level);
  const colour = [...levelColours].find(([one]) => one === name)?.[1] ?? "dim";
  const fields = Object.entries(entry)
    .filter(([field]) => !leftOut.has(field))
    .map(([field, value]) => `${paint("dim", `${field}=`)}${shown(value)}`);
  const message = printable(textOf(msg));
  const columns = [
    ...(clock === "" ? [] : [paint("dim", clock)]),
    paint(colour, name.toUpperCase().padEnd(5)),
    fields.length === 0 ? message : message.padEnd(MESSAGE_WIDTH),
    ...fields,
  ];
  return `${columns.join("  ")}\n${faultLines(err, "  ")}`;
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
