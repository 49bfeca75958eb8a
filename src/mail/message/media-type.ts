/** Content-Type (RFC 2045 section 5) of a message or part from another program, read leniently. */
import { type GivenField, unfold } from "./header-section.ts";

export interface MediaType {
  /** Lower case, without parameters; "text/plain" where the field is missing. */
  readonly type: string;
  readonly boundary: string | null;
  readonly charset: string | null;
  /** The name of a file, or the beginning of it (RFC 2231). */
  readonly name: string | null;
}

const BOUNDARY = /;\s*boundary\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i;
const CHARSET = /;\s*charset\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i;
const NAME = /;\s*name(?:\*|\*0\*?)?\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i;

export function readMediaType(fields: readonly GivenField[]): MediaType {
  const value = unfold(fields.find(({ name }) => /^content-type$/i.test(name))?.value ?? "");
  const type = value.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const parameter = (form: RegExp) => {
    const [, quoted, plain] = form.exec(value) ?? [];
    return quoted?.replace(/\\(.)/g, "$1") ?? plain ?? null;
  };
  return {
    type: type || "text/plain",
    boundary: parameter(BOUNDARY),
    charset: parameter(CHARSET),
    name: parameter(NAME),
  };
}
