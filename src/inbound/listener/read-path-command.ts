/**
 * Reads the path and the parameters of MAIL and RCPT (RFC 5321 section 4.1.2). smtp-server's own reader refuses quoted
 * local parts with blanks or two dots in a row. The conversation decides which addresses are accepted.
 */

/** The form in which smtp-server passes it to the conversation. */
export interface PathCommand {
  /** Between the angle brackets, without a source route; "" is the null sender. */
  readonly address: string;
  readonly args: Record<string, string | true> | false;
  /** The name of a parameter that is given twice. */
  readonly duplicate?: string;
}

/** smtp-server replies 501 to the command. */
export type BadCommand = false;

/** Control characters could forge a line of a log or of a header. */
const CONTROL = /\p{Cc}/u;
const SOURCE_ROUTE = /^@[^\s,:@"]+(?:,@[^\s,:@"]+)*:/;

/** Reads `MAIL FROM:<path> parameters` or `RCPT TO:<path> parameters`. The path has to be a mailbox. */
export function readPathCommand(name: string, line: string): PathCommand | BadCommand {
  const rest = afterName(name, line);
  if (rest === null || CONTROL.test(rest)) return false;
  const end = endOfPath(rest);
  if (end < 0 || !/^(?:\s|$)/.test(rest.slice(end + 1))) return false;
  const address = rest.slice(1, end).replace(SOURCE_ROUTE, "");
  const [local, domain, ...more] = address.split("@");
  const isMailbox = Boolean(local) && Boolean(domain) && more.length === 0 && !/[<>]/.test(domain ?? "");
  const isReserved = /^postmaster$/i.test(address) && name === "RCPT TO";
  if (address !== "" && !isMailbox && !isReserved) return false;
  return { address, ...parametersOf(rest.slice(end + 1)) };
}

/**
 * Reads MAIL on a port that does not use the sender. It accepts senders without brackets, without a domain and with broken
 * quotes. Of the parameters only a valid SIZE is returned.
 */
export function readAnySender(line: string): PathCommand | BadCommand {
  const rest = afterName("MAIL FROM", line);
  if (rest === null || rest === "" || CONTROL.test(rest)) return false;
  const quotedEnd = endOfPath(rest);
  const end = quotedEnd >= 0 ? quotedEnd : rest.startsWith("<") ? rest.indexOf(">") : -1;
  const [word = ""] = rest.split(/\s/, 1);
  const path = end >= 0 ? rest.slice(1, end) : word.replace(/^</, "");
  const size = /\sSIZE=(\d{1,20})(?:\s|$)/i.exec(end >= 0 ? rest.slice(end + 1) : rest)?.[1];
  return { address: path.replace(SOURCE_ROUTE, ""), args: size === undefined ? false : { SIZE: size } };
}

function afterName(name: string, line: string): string | null {
  const colon = line.indexOf(":");
  const given = line.slice(0, Math.max(0, colon)).trim().replace(/\s+/g, " ").toUpperCase();
  return colon >= 0 && given === name ? line.slice(colon + 1).trim() : null;
}

/** The index of the closing bracket outside of quotes; -1 when there is none, or no opening one. */
function endOfPath(text: string): number {
  if (!text.startsWith("<")) return -1;
  let isQuoted = false;
  for (let at = 1; at < text.length; at++) {
    const character = text[at];
    if (character === "\\" && isQuoted) at++;
    else if (character === '"') isQuoted = !isQuoted;
    else if (character === ">" && !isQuoted) return at;
  }
  return -1;
}

/** The parameters, their values decoded from xtext (RFC 3461 section 4). */
function parametersOf(text: string): Pick<PathCommand, "args" | "duplicate"> {
  const args: Record<string, string | true> = {};
  let duplicate: string | undefined;
  for (const word of text.trim().split(/\s+/)) {
    if (word === "") continue;
    const [key = "", ...value] = word.split("=");
    const name = key.toUpperCase();
    if (Object.hasOwn(args, name)) duplicate = name;
    args[name] =
      value
        .join("=")
        .replace(/\+([\dA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))) ||
      true;
  }
  const given = Object.keys(args).length > 0 ? args : (false as const);
  return duplicate === undefined ? { args: given } : { args: given, duplicate };
}

type CommandHandler = (line: Buffer, done: () => void) => void;

/** The part of a connection of smtp-server that reads commands. */
interface CommandReader {
  _getHandler(name: string): CommandHandler | undefined;
  _parseAddressCommand: unknown;
}

/**
 * Replaces smtp-server's own readers of EHLO, MAIL and RCPT, which refuse what other MTAs accept.
 * @param takesAnySender accept any name in EHLO and any sender in MAIL, unless they break the protocol
 */
export function replaceCommandReaders(connection: CommandReader, takesAnySender: boolean): void {
  connection._parseAddressCommand = (name: string, line: Buffer | string) => {
    const command = name.toUpperCase();
    return command === "MAIL FROM" && takesAnySender
      ? readAnySender(line.toString())
      : readPathCommand(command, line.toString());
  };
  if (takesAnySender) acceptAnyName(connection);
}

/** Some clients send blanks in the name of EHLO or HELO. Only the first word is read, as other MTAs do. */
function acceptAnyName(connection: CommandReader): void {
  const handlerOf = connection._getHandler.bind(connection);
  connection._getHandler = (name) => {
    const handler = handlerOf(name);
    if (handler === undefined || (name !== "EHLO" && name !== "HELO")) return handler;
    return (line, callback) => {
      const [command = "", first = ""] = line.toString("latin1").trim().split(/\s+/);
      return handler.call(connection, Buffer.from(`${command} ${first}`, "latin1"), callback);
    };
  };
}
