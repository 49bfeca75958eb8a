/** Parsers of option values. A refused value is wrong usage, reported before the database is opened. */
import { InvalidArgumentError } from "commander";
import { ApiError } from "#platform/errors.ts";
import { asWorkspaceId, isUuid, type WorkspaceId } from "#platform/ids.ts";
import { typedCommand } from "#platform/typed-command.ts";

/** Makes a parser of an option from a function that throws an ApiError. */
export function argument<Value>(read: (text: string) => Value): (text: string) => Value {
  return (text) => {
    try {
      return read(text);
    } catch (fault) {
      if (!(fault instanceof ApiError)) throw fault;
      throw new InvalidArgumentError(fault.message);
    }
  };
}

/** Checks the form only; the command checks whether the workspace exists. */
export function readWorkspaceId(text: string): WorkspaceId {
  if (!isUuid(text))
    throw new InvalidArgumentError(`An id is a UUID, as \`${typedCommand("workspace list")}\` shows it.`);
  return asWorkspaceId(text);
}

/** Checks the form only; the command checks whether the resource exists. */
export function readId(text: string): string {
  if (!isUuid(text)) throw new InvalidArgumentError("An id is a UUID.");
  return text.toLowerCase();
}

/** Splits a list such as `a,b`, ignoring blanks around the commas. */
export function readList(text: string): string[] {
  return text.split(",").map((item) => item.trim());
}
