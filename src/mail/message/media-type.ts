/** Content-Type (RFC 2045 section 5) of a message or part that another program composed, read leniently. */
import { type GivenField, unfold } from "./header-section.ts";

export interface MediaType {
  /** Lower case, without parameters; "text/plain" if the field is missing. */
  readonly type: string;
  readonly boundary: string | null;
  readonly charset: string | null;
  /** The file name, or its first segment (RFC 2231). */
  readonly name: string | null;
}

const PARAMETER = /;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))/g;
const NAME = /^name(?:\*|\*0\*?)?$/;

/** The media type of a part with these header fields. */
export function readMediaType(fields: readonly GivenField[]): MediaType {
  const value = unfold(fields.find(({ name }) => /^content-type$/i.test(name))?.value ?? "");
  const { type, parameters } = parseMediaType(value);
  const [, name] = [...parameters].find(([key]) => NAME.test(key)) ?? [];
  return {
    type: type || "text/plain",
    boundary: parameters.get("boundary") || null,
    charset: parameters.get("charset") || null,
    name: name || null,
  };
}

/**
 * The media type of a Content-Type value in lower case, "" if there is none, and its parameters by lower-case name. If a
 * parameter is repeated, the first one counts.
 */
export function parseMediaType(value: string): { type: string; parameters: Map<string, string> } {
  const parameters = new Map<string, string>();
  for (const [, name = "", quoted, plain = ""] of value.matchAll(PARAMETER)) {
    const key = name.toLowerCase();
    if (!parameters.has(key)) parameters.set(key, quoted?.replace(/\\(.)/g, "$1") ?? plain);
  }
  return { type: value.split(";", 1)[0]?.trim().toLowerCase() ?? "", parameters };
}
