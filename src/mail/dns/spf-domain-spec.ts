/** The domain-spec of an SPF term (RFC 7208 section 7.1): checks its macros and host name. */
import { invalidLabel } from "#mail/check-idna-labels.ts";

const MACRO = /%(?:[%_-]|\{[^{}]*\})/g;
const MACRO_BODY = /^([a-z])(\d*)r?[-.+,/_=]*$/i;
/** A domain name has no more labels than this. */
const MOST_PARTS = 128;
const LONGEST_LABEL = 63;
const LONGEST_NAME = 253;

/** What is wrong, as a clause for "… cannot be understood: …"; null if nothing is. */
export function domainSpecFault(text: string): string | null {
  if (text === "") return "it names no domain";
  const fault = macroFault(text);
  if (fault !== null) return fault;
  const hasMacros = text.includes("%");
  const endsInMacro = /(?:\}|%[%_-])\.?$/.test(text);
  const name = text.replace(MACRO, "m").replace(/\.$/, "").toLowerCase();
  const [stray] = /[^a-z0-9_.-]/u.exec(name) ?? [];
  if (stray !== undefined) return `${shownCharacter(stray)} is not part of a host name`;
  const labels = name.split(".");
  if (labels.includes("")) return "it has an empty label (two dots in a row, or one in front)";
  const long = labels.find((label) => label.length > LONGEST_LABEL);
  if (long !== undefined) {
    return `a label has ${long.length} characters, and the DNS allows ${LONGEST_LABEL}`;
  }
  if (!hasMacros && name.length > LONGEST_NAME) {
    return `the name has ${name.length} characters, and the DNS allows ${LONGEST_NAME}`;
  }
  const impossible = hasMacros ? null : invalidLabel(name);
  if (impossible !== null) return `"${impossible}" is not a valid international label`;
  return endsInMacro ? null : topLevelFault(labels);
}

/** No top-level domain is a number, and only internationalized ones have a hyphen (RFC 1123, RFC 5890). */
function topLevelFault(labels: readonly string[]): string | null {
  const last = labels.at(-1) ?? "";
  if (labels.length < 2) return `"${last}" is not a complete domain name`;
  const isTopLevel = /^xn--[a-z0-9-]+$/.test(last) || (/^[a-z0-9]+$/.test(last) && /[a-z]/.test(last));
  return isTopLevel ? null : `"${last}" is not a top-level domain`;
}

/** What is wrong with the macros of a macro-string (section 7.1); null if nothing is. */
export function macroFault(text: string): string | null {
  for (const { index } of text.replace(MACRO, (macro) => "m".repeat(macro.length)).matchAll(/%/g)) {
    return text[index + 1] === "{"
      ? 'a macro that begins with "%{" has no closing brace'
      : 'a "%" does not begin a macro such as %{i}; a per cent sign is written %%';
  }
  for (const [macro] of text.matchAll(MACRO)) {
    if (!macro.startsWith("%{")) continue;
    const [, letter = "", digits = ""] = MACRO_BODY.exec(macro.slice(2, -1)) ?? [];
    if (/^[crt]$/i.test(letter)) return `the macro ${macro} is for explanation texts only`;
    const isKnown = /^[slodiphv]$/i.test(letter);
    const parts = Number(digits || 1);
    if (!isKnown || parts < 1 || parts > MOST_PARTS) return `${macro} is not a macro`;
  }
  return null;
}

/** A character for a sentence: in quotation marks, or as its code point if it is invisible. */
export function shownCharacter(character: string): string {
  if (!/[\p{C}\p{Z}]/u.test(character)) return `"${character}"`;
  const code = character.codePointAt(0) ?? 0;
  return `the invisible character U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}
