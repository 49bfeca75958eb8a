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

/** Control characters and line breaks, and characters that turn the reading direction of what follows (UAX #9). */
const UNFIT = /[\p{Cc}\p{Zl}\p{Zp}\u{202a}-\u{202e}\u{2066}-\u{2069}]/u;
/** A character that shows: the Braille blank does not. */
const VISIBLE = /[^\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u{2800}]/u;

/** Trimmed, 1 to 200 characters, of which one shows. @throws ApiError VALIDATION_ERROR */
export function readName(text: string): string {
  const name = text.trim();
  if (!VISIBLE.test(name)) throw invalid({ field: "name", message: "name must not be blank" });
  if (Array.from(name).length > LONGEST_NAME) {
    throw invalid({ field: "name", message: `name must have at most ${LONGEST_NAME} characters` });
  }
  // Names appear in the message log, in mails and in the operator's terminal.
  if (UNFIT.test(name)) {
    const kinds = "line breaks, control characters or characters that turn the reading direction";
    throw invalid({ field: "name", message: `name must not contain ${kinds}` });
  }
  return name;
}

/** A name from elsewhere, without what `readName` refuses, not cut; empty if nothing of it shows. */
export function plainName(text: string): string {
  const name = text
    .replaceAll(new RegExp(`${UNFIT.source}+`, "gu"), " ")
    .toWellFormed()
    .trim();
  return VISIBLE.test(name) ? name : "";
}

const COPY = " (copy)";

/** The name of a copy, not longer than a name may be. */
export function copyName(name: string): string {
  return readName(`${name.slice(0, LONGEST_NAME - COPY.length)}${COPY}`.toWellFormed());
}
