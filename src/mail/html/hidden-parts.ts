/**
 * The parts of HTML in which a reader can see and open no link, as browsers read it: hidden elements, also those that are
 * left open, and what a comment or a tag without its end swallows. Nothing is built, and the time is linear.
 */
import { isVoid } from "./element-roles.ts";
import { HidingStyles } from "./hidden-elements.ts";
import { OpenElements } from "./open-elements.ts";
import type { Span } from "./tag-positions.ts";
import { TagReader } from "./tag-reader.ts";

/** A part from the `<` that hides it. */
export interface HiddenPart extends Span {
  /** Whether nothing ends it before the end of the HTML. */
  readonly isLeftOpen: boolean;
}

/** The parts, and what else tells how a fragment changes the HTML around it. */
export interface HiddenParts {
  /** In order, without overlaps. */
  readonly parts: readonly HiddenPart[];
  /** Where end tags are that end no element of the HTML. */
  readonly strayEnds: readonly number[];
}

/** Their content is words alone, or is shown only by programs that do not know them. */
const withoutLinks: ReadonlySet<string> = new Set(
  "audio canvas datalist object select template video".split(" "),
);
/** Their content is text up to their end tag; the reader reads others such as `script` so by itself. */
const ofText: ReadonlySet<string> = new Set(["plaintext", "textarea", "xmp"]);
/** End tags that browsers read as start tags, or which end an element that may be omitted. */
const harmlessEnds: ReadonlySet<string> = new Set(["br", "p"]);

export function hiddenParts(html: string): HiddenParts {
  const tags = new TagReader(html, undefined, new HidingStyles(html));
  const open = new OpenElements();
  const parts: HiddenPart[] = [];
  const strayEnds: number[] = [];
  let start: number | null = null;
  for (let at = tags.textEnd(); at < html.length; at = tags.textEnd()) {
    const isComplete = tags.read(at) && !passesText(tags);
    if (!isComplete) {
      parts.push({ start: start ?? at, end: html.length, isLeftOpen: true });
      return { parts, strayEnds };
    }
    const { name, isEnd } = tags;
    if (ofText.has(name) && !isEnd && start === null) {
      parts.push({ start: at, end: tags.position, isLeftOpen: false });
    }
    if (name === "") continue;
    if (isEnd) {
      if (!open.close(name) && !harmlessEnds.has(name)) strayEnds.push(at);
    } else if (isVoid(tags.role)) open.openVoid(name);
    else open.open(name, tags.isHidden || withoutLinks.has(name));
    if (open.isHidden) start ??= at;
    else if (start !== null) {
      parts.push({ start, end: at, isLeftOpen: false });
      start = null;
    }
  }
  if (start !== null) parts.push({ start, end: html.length, isLeftOpen: true });
  return { parts, strayEnds };
}

/** Moves to the end tag of an element whose content is text. @returns whether it has none */
function passesText(tags: TagReader): boolean {
  if (tags.isEnd || (tags.role !== "raw" && !ofText.has(tags.name))) return false;
  tags.passRawText();
  return tags.position >= tags.html.length;
}
