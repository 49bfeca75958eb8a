/** Rich text of a design: a small part of HTML, written again from what a parser reads, so that nothing else gets through. */
import { Parser } from "htmlparser2";
import { escapeHtml } from "#mail/merge-tags/escape.ts";
import { MarkedSource } from "#mail/mjml/marked-source.ts";

const kept: ReadonlySet<string> = new Set("p br b strong i em u s a ul ol li".split(" "));
/** Elements whose text is not shown. */
const dropped: ReadonlySet<string> = new Set(
  "script style title template textarea select noscript iframe object svg math head".split(" "),
);
/** The distances that mail programs would otherwise choose differently. */
const blockStyles: Readonly<Record<string, string>> = {
  p: "margin:0 0 12px",
  ul: "margin:0 0 12px;padding-left:24px",
  ol: "margin:0 0 12px;padding-left:24px",
};
const address = /^(?:https?:\/\/|mailto:|tel:)/i;

/**
 * The text with the elements that rich text may have, and with its merge tags. Text without any
 * paragraph or list becomes a paragraph.
 * @param source a template without faults (readTemplate)
 * @param linkStyle CSS of its links
 */
export function richText(source: string, linkStyle: string): string {
  return writeRichText(source, linkStyle).html;
}

/** The offsets of merge tags that rich text has no place for, such as those between attributes. */
export function lostTags(source: string): readonly number[] {
  return writeRichText(source, "").lost;
}

function writeRichText(source: string, linkStyle: string) {
  const marked = new MarkedSource(source);
  const writer = new RichTextWriter(marked, linkStyle);
  const parser = new Parser(
    {
      onopentag: (name, attributes) => writer.open(name, attributes),
      onclosetag: (name) => writer.close(name),
      ontext: (text) => writer.text(text),
    },
    { decodeEntities: true },
  );
  parser.end(marked.text);
  const written = writer.result();
  return { html: marked.restore(written), lost: marked.missingIn(written) };
}

class RichTextWriter {
  readonly #marked: MarkedSource;
  readonly #linkStyle: string;
  #written = "";
  #hasBlocks = false;
  #droppedDepth = 0;

  constructor(marked: MarkedSource, linkStyle: string) {
    this.#marked = marked;
    this.#linkStyle = linkStyle;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (dropped.has(name)) this.#droppedDepth += 1;
    if (this.#droppedDepth > 0 || !kept.has(name)) return;
    this.#written += name === "a" ? this.#link(attributes["href"] ?? "") : startTag(name);
    this.#hasBlocks ||= Object.hasOwn(blockStyles, name);
  }

  close(name: string): void {
    if (dropped.has(name)) {
      this.#droppedDepth -= 1;
      return;
    }
    if (this.#droppedDepth > 0 || !kept.has(name) || name === "br") return;
    this.#written += `</${name}>`;
  }

  text(text: string): void {
    if (this.#droppedDepth === 0) this.#written += escapeHtml(text);
  }

  result(): string {
    return this.#hasBlocks ? this.#written : `${startTag("p")}${this.#written}</p>`;
  }

  #link(href: string): string {
    const target = href.trim();
    const isSafe = address.test(target) || this.#marked.startsWithMark(target);
    return `<a href="${isSafe ? escapeHtml(target) : "#"}" style="${this.#linkStyle}">`;
  }
}

function startTag(name: string): string {
  const style = Object.hasOwn(blockStyles, name) ? blockStyles[name] : undefined;
  return style === undefined ? `<${name}>` : `<${name} style="${style}">`;
}
