/**
 * Merge tags in HTML: the position of a tag decides how its value is escaped. The filters for that are insertions,
 * which leave every character of the template unchanged.
 */
import { type HtmlAttribute, type HtmlMap, type HtmlTag, mapHtml, spanAt } from "#mail/html/tag-positions.ts";
import { noOpFilters, type PlaceFilter } from "./liquid-engine.ts";
import { filtersOf, type OutputFilters, type Template } from "./read-template.ts";
import type { PlacedFault } from "./template-errors.ts";
import type { Insertion, Piece } from "./template-pieces.ts";
import type { UrlFilter } from "./url-filters.ts";

/** An HTML template with the positions of its markup. */
export interface HtmlTemplate extends Template {
  readonly map: HtmlMap;
}

/** A filter that is appended to those of the author. */
export type AddedFilter = PlaceFilter | `${UrlFilter}: ${number}`;

/** Attributes that contain one URL or more. */
const addressAttributes: ReadonlySet<string> = new Set(
  "action background cite data formaction href longdesc poster src srcset xlink:href".split(" "),
);
const encodingFilters: ReadonlySet<string> = new Set(["cgi_escape", "uri_escape", "url_encode"]);

/**
 * Finds the positions of the HTML around the merge tags. The content of raw, comment and capture is masked.
 * @returns null if there is too much markup
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

/** Where content at the end of the body is inserted, outside of every block. */
export function bodyEnd({ source, pieces, map }: HtmlTemplate): number {
  const piece = pieces.find(({ end }) => end > map.bodyEnd);
  return piece === undefined || (piece.depth === 0 && isMarkup(piece)) ? map.bodyEnd : source.length;
}

/** Finds markup in captures: what is captured is a value, so its markup would be escaped and shown to readers. */
export function captureFaults({ source, pieces }: Template): PlacedFault[] {
  const message = "A capture holds text: this markup would be shown to readers.";
  return pieces
    .filter(({ kind, role }) => kind === "text" && role === "captured")
    .map(({ start, end }) => ({ start, at: source.slice(start, end).search(/<[a-z/!]|&#?\w+;/i) }))
    .filter(({ at }) => at !== -1)
    .map(({ start, at }) => ({ at: start + at, message }));
}

/** The filters that outputs need at other positions than HTML text. */
export function placeInsertions(template: HtmlTemplate): Insertion[] {
  const { source, pieces, map } = template;
  return pieces
    .filter(({ kind, role }) => kind === "output" && (role === "shown" || role === "captured"))
    .flatMap((output) => {
      const filters = filtersOf(source, output);
      if (output.role === "captured") return filterInsertion(source, filters, "as_is");
      const tag = spanAt(map.tags, output.start);
      const last = filters.used.findLast(({ name }) => !noOpFilters.has(name));
      if (tag === undefined && last?.name === "newline_to_br") {
        const escaped: PlaceFilter = "as_html";
        return [{ at: last.start, text: `${escaped} | ` }, filterInsertion(source, filters, "as_is")];
      }
      const filter = placeFilter(source, output, filters, tag);
      return filter === null ? [] : filterInsertion(source, filters, filter);
    });
}

/** Appends filters to an output, which may already end in a `|`. */
export function filterInsertion(source: string, { end }: OutputFilters, ...added: AddedFilter[]): Insertion {
  const hasPipe = source.slice(0, end).trimEnd().endsWith("|");
  return { at: end, text: `${hasPipe ? " " : " | "}${added.join(" | ")}` };
}

/** Whether the author already encodes the value of an output as part of a URL. */
export function isEncoded({ used }: OutputFilters): boolean {
  return used.some(({ name }) => encodingFilters.has(name));
}

function isMarkup({ kind, role }: Piece): boolean {
  return kind === "text" && role === "shown";
}

/**
 * A neutral character that masks a piece. A letter joins the text around it; a blank separates attributes, as a tag
 * between them does.
 */
function maskOf({ kind }: Piece, before: string): string {
  return kind === "tag" && /[\s"']/.test(before) ? " " : "x";
}

/** The filter for the position of an output; null if the escaping of HTML text is right. */
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
  // Later filters may have undone the author's encoding.
  if (isEncoded(filters)) return elsewhere;
  return /^\s*(?:mailto|tel|sms):[^?]*$/i.test(before) ? "as_mailbox" : "as_url_part";
}
