/** The footer with an unsubscribe link, which is added to bodies that have no visible one. */

import { type LanguageSource, languageOf } from "#audience/languages/recipient-language.ts";
import { spanAt } from "#mail/html/tag-positions.ts";
import { type Render, renderOf } from "#mail/merge-tags/compile.ts";
import { escapeHtml } from "#mail/merge-tags/escape.ts";
import { HiddenTemplateParts } from "#mail/merge-tags/hidden-template-parts.ts";
import { bodyEnd, type HtmlTemplate } from "#mail/merge-tags/html-template.ts";
import type { MergeValues } from "#mail/merge-tags/liquid-engine.ts";
import type { Template } from "#mail/merge-tags/read-template.ts";
import type { PlacedFault } from "#mail/merge-tags/template-errors.ts";
import { type Piece, withInsertions } from "#mail/merge-tags/template-pieces.ts";
import type { MailText } from "#mail/message/shared-text-pieces.ts";
import type { Language } from "#platform/languages/language.ts";
import type { VariableName } from "./merge-tag-names.ts";

const unsubscribeUrl = "unsubscribe_url" satisfies VariableName;

/** The words of the footer in one language. */
export interface FooterWords {
  /** For the attributes `lang` and `dir`. */
  readonly tag: string;
  readonly direction: string;
  /** The text of the link in HTML. */
  readonly link: string;
  /** What stands around the address in a text. */
  readonly before: string;
  readonly after: string;
}

/** The footer of a workspace's mail. Plain data. */
export interface Footer {
  /** The words for recipients without a language of their own. */
  readonly words: FooterWords;
  /** Set if recipients may have a language of their own: then the words are values of the recipient. */
  readonly personal: PersonalWords | null;
  /** Lines below the link: the footer text and the postal address of the brand; null for none. */
  readonly senderLines: string | null;
}

export interface PersonalWords extends LanguageSource {
  readonly words: Readonly<Record<Language, FooterWords>>;
}

/** The values of a footer with words of the recipient. No custom field has such a name: its names have no hyphens. */
const outputs: FooterWords = {
  tag: "{{ footer-tag }}",
  direction: "{{ footer-direction }}",
  link: "{{ footer-link }}",
  before: "{{ footer-before }}",
  after: "{{ footer-after }}",
};

/** The values for a recipient. @param fields the recipient's custom fields */
export function footerValues(
  personal: PersonalWords,
  fields: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> {
  const words = personal.words[languageOf(personal, fields)];
  return Object.fromEntries(Object.entries(words).map(([name, value]) => [`footer-${name}`, value]));
}

function htmlFooter({ words, personal, senderLines }: Footer): string {
  const { tag, direction, link } = personal === null ? { ...words, link: literalHtml(words.link) } : outputs;
  const lines =
    senderLines === null
      ? ""
      : `<br>\n<span dir="auto">${literalHtml(senderLines).replaceAll("\n", "<br>\n")}</span>`;
  return (
    `<p lang="${tag}" dir="${direction}" style="margin:24px 0;font:12px/18px Arial,sans-serif;color:#666666;text-align:center">` +
    `<a href="{{ ${unsubscribeUrl} }}" style="color:#666666">${link}</a>${lines}</p>\n`
  );
}

/** The lines of a brand and replaced texts have no merge tags (workspace/brand, workspace/texts). */
function textFooter({ words, personal, senderLines }: Footer): string {
  const { before, after } = personal === null ? words : outputs;
  const lines = senderLines === null ? "" : `\n${senderLines}\n`;
  return `-- \n${before}{{ ${unsubscribeUrl} }}${after}\n${lines}`;
}

/** HTML that shows the text and that is no merge tag, either. */
function literalHtml(text: string): string {
  return escapeHtml(text).replaceAll("{", "&#123;");
}

/**
 * Whether the body shows an unsubscribe link: to all recipients, to none, or depending on the values, because it is in a
 * block or assigned to a variable.
 */
export type UnsubscribeLink = "shown" | "missing" | "uncertain";

/** A link that is not visible counts as missing. If merge tags decide what is hidden, nothing is certain. */
export function htmlUnsubscribeLink(template: HtmlTemplate): UnsubscribeLink {
  const parts = HiddenTemplateParts.of(template);
  const seen = new Set(parts?.seenPieces().map((index) => template.pieces[index]));
  const link = unsubscribeLink(template, (piece) => seen.has(piece));
  return link === "shown" && parts?.isCertain === false ? "uncertain" : link;
}

export function textUnsubscribeLink(template: Template): UnsubscribeLink {
  return unsubscribeLink(template, () => true);
}

function unsubscribeLink(
  { variables, pieces }: Template,
  isSeen: (output: Piece) => boolean,
): UnsubscribeLink {
  const uses = variables
    .filter(({ path }) => path[0] === unsubscribeUrl)
    .flatMap(({ at }) => spanAt(pieces, at) ?? [])
    .filter((piece) => !isWritten(piece) || isSeen(piece));
  if (uses.length === 0) return "missing";
  return uses.some((piece) => isWritten(piece) && piece.depth === 0) ? "shown" : "uncertain";
}

/** Whether a piece is an output whose value is shown where it is written, not inside a tag or a capture. */
function isWritten({ kind, role }: Piece): boolean {
  return kind === "output" && role === "shown";
}

/** What hides the place of the footer from every recipient: an element, a comment or a tag that is left open. */
export function footerFault(template: HtmlTemplate): PlacedFault | null {
  const hiding = HiddenTemplateParts.of(template)?.hiding(bodyEnd(template)) ?? null;
  if (hiding === null) return null;
  const { at, what } = hiding;
  return {
    at,
    message: `This ${what} is left open and hides the unsubscribe link at the end of the body: close it.`,
  };
}

/** The source of an HTML template with the footer. */
export function withHtmlFooter(template: HtmlTemplate, footer: Footer): string {
  return withInsertions(template.source, [{ at: bodyEnd(template), text: htmlFooter(footer) }]);
}

/** The source of a text template with the footer. */
export function withTextFooter(template: Template, footer: Footer): string {
  const body = template.source.trimEnd();
  return body === "" ? textFooter(footer) : `${body}\n\n${textFooter(footer)}`;
}

/**
 * Renders without the footer, and again with it if the result shows no unsubscribe link.
 * @param seen returns the visible text of a rendered body
 */
export function footerIfMissing(plain: Render, footed: Render, seen: (rendered: string) => string): Render {
  const shows = ({ variables }: MergeValues, text: MailText) =>
    seen(String(text)).includes(String(variables[unsubscribeUrl]));
  const mailText = (values: MergeValues) => {
    const rendered = plain.mailText(values);
    return !rendered.ok || shows(values, rendered.text) ? rendered : footed.mailText(values);
  };
  return renderOf(mailText);
}
