/** Replaces smtp-server's own readers of EHLO, MAIL and RCPT, which refuse what other MTAs accept. */
import { readAnySender, readPathCommand } from "./path-command.ts";

type CommandHandler = (line: Buffer, done: () => void) => void;

/** The part of a connection of smtp-server that reads commands. */
interface CommandReader {
  _getHandler(name: string): CommandHandler | undefined;
  _parseAddressCommand: unknown;
}

/** @param takesAnySender accept any name in EHLO and any sender in MAIL, unless they break the protocol */
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
