/** Translates errors of LiquidJS into sentences for the author of a template. */
import { LiquidError } from "liquidjs";

/** A sentence about an offset of a template. */
export interface PlacedFault {
  readonly at: number;
  readonly message: string;
}

const strayBranch = /^tag "(else|elsif|when|end\w+)" not found$/;

/** Patterns of LiquidJS's messages, and the sentences that replace them; `$1` is the first group. */
const sentences: readonly (readonly [RegExp, string])[] = [
  [/^undefined filter: raw$/, "There is no filter raw: values are always escaped."],
  [/^undefined filter: (.*)$/s, "There is no filter $1."],
  [strayBranch, "{% $1 %} is outside of its block."],
  [/^tag "(.*)" not found$/s, "There is no tag {% $1 %}."],
  [/^output ".*" not closed$/s, "This merge tag is not closed with }}."],
  [/^tag ".*" not closed$/s, "This tag is not closed with %}."],
  [/^raw ".*" not closed$/s, "{% raw %} has no {% endraw %}."],
  [/^tag {%-?\s*(\w+).* not closed$/s, unclosed("$1")],
  [/^invalid value expression: ""$/, "A name is missing here."],
  [/^invalid value expression: (.*)$/s, "This is not the name of a value: $1."],
  [/^illegal tag: {%-?\s*for\b.*$/s, "Write this as {% for name in values %}."],
];

/** The sentence about a block without its end. */
export function unclosed(name: string): string {
  return `{% ${name} %} has no {% end${name} %}.`;
}

/** The faults of a template that could not be parsed. @throws errors that are not LiquidJS's */
export function liquidFaults(error: unknown): PlacedFault[] {
  const errors = error instanceof Error && "errors" in error ? error.errors : [error];
  if (!Array.isArray(errors) || !errors.every((one) => LiquidError.is(one))) throw error;
  const faults = errors.map((fault) => ({
    at: fault.token.begin,
    message: bareMessage((fault.originalError ?? fault).message),
  }));
  // A block with a broken opening tag also reports its other tags, which would only confuse.
  const own = faults.filter(({ message }) => !strayBranch.test(message));
  return (own.length > 0 ? own : faults).map(({ at, message }) => ({ at, message: sentence(message) }));
}

/** Why a template could not be rendered with the values of one recipient. */
export function renderFault(error: unknown): string {
  const said = LiquidError.is(error) ? (error.originalError ?? error) : error;
  const message = said instanceof Error ? bareMessage(said.message) : String(said);
  const limit = "memory alloc limit exceeded";
  return `This could not be rendered: ${message === limit ? "it handles too much text" : message}.`;
}

/** Removes the position that LiquidJS appends to its message. */
function bareMessage(message: string): string {
  return message.replace(/, line:\d+, col:\d+$/, "");
}

function sentence(said: string): string {
  for (const [pattern, instead] of sentences) if (pattern.test(said)) return said.replace(pattern, instead);
  return `This cannot be read as a merge tag: ${said}.`;
}
