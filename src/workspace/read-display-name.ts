/** Display names of workspaces, API keys, lists and segments. */
import { Type } from "typebox";
import { invalid } from "#platform/errors.ts";

export const LONGEST_NAME = 200;

/** The shapes of a name and a description in a body. */
export const nameAndDescription = {
  name: Type.String({
    minLength: 1,
    maxLength: LONGEST_NAME,
    description: "Name for display, unique or not; it is trimmed.",
  }),
  description: Type.String({
    maxLength: 2_000,
    description: "What it is for, for people; empty if there is nothing to say.",
  }),
};

/** Trimmed, 1 to 200 characters. @throws ApiError VALIDATION_ERROR */
export function readName(text: string): string {
  const name = text.trim();
  if (name === "") throw invalid({ field: "name", message: "name must not be blank" });
  if (Array.from(name).length > LONGEST_NAME) {
    throw invalid({ field: "name", message: `name must have at most ${LONGEST_NAME} characters` });
  }
  // Names appear in the message log, in mails and in the operator's terminal.
  if (/\p{Cc}/u.test(name)) {
    throw invalid({ field: "name", message: "name must not contain line breaks or control characters" });
  }
  return name;
}

const COPY = " (copy)";

/** The name of a copy, not longer than a name may be. */
export function copyName(name: string): string {
  return readName(`${name.slice(0, LONGEST_NAME - COPY.length)}${COPY}`.toWellFormed());
}
