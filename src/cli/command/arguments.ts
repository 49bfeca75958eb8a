/** How option values are read: a refused one is wrong usage, said before anything is opened. */
import { InvalidArgumentError } from "commander";
import { ApiError } from "#platform/errors.ts";
import { asWorkspaceId, isUuid, type WorkspaceId } from "#platform/ids.ts";

/** Makes an option's reader of a function that refuses with an ApiError. */
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

/** The form only: whether there is such a workspace is for the command to find out. */
export function readWorkspaceId(text: string): WorkspaceId {
  if (!isUuid(text))
    throw new InvalidArgumentError("An id is a UUID, as `npm run -s posthaste -- workspace list` shows it.");
  return asWorkspaceId(text);
}

/** A list such as `a,b`; blanks around the commas do not count. */
export function readList(text: string): string[] {
  return text.split(",").map((item) => item.trim());
}
