/**
 * Merge tags in HTML: how each value is written depends on where its tag stands. What has to be added to a template
 * for that are insertions, which leave every character of it as it is.
 */
import { type HtmlAttribute, type HtmlMap, type HtmlTag, mapHtml, spanAt } from "#mail/html/tag-positions.ts";
import { idleFilters, type PlaceFilter } from "./liquid-engine.ts";
import { filtersOf, type OutputFilters, type Template } from "./read-template.ts";
import type { PlacedFault } from "./template-errors.ts";
import type { Insertion, Piece } from "./template-pieces.ts";
import type { AddressFilter } from "./url-filters.ts";

export interface HtmlTemplate extends Template {
  readonly map: HtmlMap;
}

/** A filter that is added to what the author wrote. */
export type AddedFilter = PlaceFilter | `${AddressFilter}: ${number}`;

/** Attributes that hold one address or more. */
const addressAttributes: ReadonlySet<string> = new Set(
  "action background cite data formaction href longdesc poster src srcset xlink:href".split(" "),
);
const encodingFilters: ReadonlySet<string> = new Set(["cgi_escape", "uri_escape", "url_encode"]);

/**
 * Maps the HTML around the merge tags. What raw, comment and capture hold is no HTML of its own.
 * @returns null where there is too much of it for a map
 */
export function htmlTemplate(template: Template): HtmlTemplate | null {
  const { source } = template;
  let masked = "";
  let last = "";
  for (const piece of template.pieces) {
    const text = source.slice(piece.start, piece.end);
    last = isMarkup(piece) ? text.slice(-1) : maskOf(piece, last);
    masked += isMarkup(piece) ? text : last.repeat(text.length);
  }
  const map = mapHtml(masked);
  return map && { ...template, map };
}

/** Where something goes at the end of the body, and in no block. */
export function bodyEnd({ source, pieces, map }: HtmlTemplate): number {
  const piece = pieces.find(({ end }) => end > map.bodyEnd);
  return piece === undefined || (piece.depth === 0 && isMarkup(piece)) ? map.bodyEnd : source.length;
}

/** Markup in a capture would be shown as text, for what is captured is a value. */
export function captureFaults({ source, pieces }: Template): PlacedFault[] {
  const message = "A capture holds text: this markup would be shown to readers.";
  return pieces
    .filter(({ kind, role }) => kind === "text" && role === "captured")
    .map(({ start, end }) => ({ start, at: source.slice(start, end).search(/<[a-z/!]|&#?\w+;/i) }))
    .filter(({ at }) => at !== -1)
    .map(({ start, at }) => ({ at: start + at, message }));
}

/** What has to be added to the outputs whose place is not the text of the HTML. */
export function placeInsertions(template: HtmlTemplate): Insertion[] {
  const { source, pieces, map } = template;
  return pieces
    .filter(({ kind, role }) => kind === "output" && (role === "shown" || role === "captured"))
    .flatMap((output) => {
      const filters = filtersOf(source, output);
      if (output.role === "captured") return filterInsertion(source, filters, "as_is");
      const tag = spanAt(map.tags, output.start);
      const last = filters.used.findLast(({ name }) => !idleFilters.has(name));
      if (tag === undefined && last?.name === "newline_to_br") {
        const escaped: PlaceFilter = "as_html";
        return [{ at: last.start, text: `${escaped} | ` }, filterInsertion(source, filters, "as_is")];
      }
      const filter = placeFilter(source, output, filters, tag);
      return filter === null ? [] : filterInsertion(source, filters, filter);
    });
}

/** Adds filters to an output; a `|` with nothing behind it may stand there already. */
export function filterInsertion(source: string, { end }: OutputFilters, ...added: AddedFilter[]): Insertion {
  const hasPipe = source.slice(0, end).trimEnd().endsWith("|");
  return { at: end, text: `${hasPipe ? " " : " | "}${added.join(" | ")}` };
}

/** Whether the author of an output encodes its value himself, as a part of an address. */
export function isEncoded({ used }: OutputFilters): boolean {
  return used.some(({ name }) => encodingFilters.has(name));
}

function isMarkup({ kind, role }: Piece): boolean {
  return kind === "text" && role === "shown";
}

/**
 * A character without meaning in HTML to stand for all of a piece. A letter belongs to what is around it; a blank parts
 * attributes, as a tag between them does.
 */
function maskOf({ kind }: Piece, before: string): string {
  return kind === "tag" && /[\s"']/.test(before) ? " " : "x";
}

/** The filter for a place, null where the escaping of HTML's text is the right one. */
function placeFilter(
  source: string,
  { start }: Piece,
  filters: OutputFilters,
  tag: HtmlTag | undefined,
): PlaceFilter | null {
  const attribute = tag && spanAt<HtmlAttribute>(tag.attributes, start);
  const elsewhere = tag === undefined || attribute?.isQuoted ? null : "as_unquoted";
  if (attribute === undefined || !addressAttributes.has(attribute.name)) return elsewhere;
  const before = source.slice(attribute.start, start);
  if (before.replaceAll(/{%.*?%}/gs, "").trim() === "") return "as_url";
  // Filters behind the one that encodes may have undone it.
  if (isEncoded(filters)) return elsewhere;
  return /^\s*(?:mailto|tel|sms):[^?]*$/i.test(before) ? "as_mailbox" : "as_url_part";
}
