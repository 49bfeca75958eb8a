/** Compiles what an author wrote to the HTML that is sent. It may take seconds: it runs in a thread (compile-thread.ts). */
import { mapHtml } from "#mail/html/tag-positions.ts";
import { escapedText } from "#mail/merge-tags/escaped-text.ts";
import { locateFaults, readTemplate } from "#mail/merge-tags/read-template.ts";
import type { PlacedFault } from "#mail/merge-tags/template-errors.ts";
import { compileMjml } from "#mail/mjml/compile-mjml.ts";
import { contentPlaces, joinMjml, withPreview } from "#mail/mjml/join-mjml.ts";
import { MarkedSource } from "#mail/mjml/marked-source.ts";
import { readMjml } from "#mail/mjml/read-mjml.ts";
import type { FieldFault } from "#platform/errors.ts";
import { fieldFault, inField } from "#sending/content/parse-content.ts";
import type { DesignBrand } from "#sending/designs/design.ts";
import { designToMjml } from "#sending/designs/design-to-mjml.ts";
import { readDesign } from "#sending/designs/read-design.ts";
import { contentPlaceFault, hiddenPartsOf } from "./content-place.ts";
import { bodyFields, type ContentSource, type WrittenBody } from "./content-source.ts";

export type CompiledSource =
  | { readonly ok: true; readonly html: string }
  | { readonly ok: false; readonly faults: readonly FieldFault[] };

/** Faults of the author, as an exception within this file. */
class SourceFaults extends Error {
  readonly faults: readonly FieldFault[];

  constructor(...faults: readonly FieldFault[]) {
    super("the content has faults");
    this.faults = faults;
  }
}

type MjmlBody = Exclude<WrittenBody, { format: "html" }>;

export async function compileSource(source: ContentSource, brand: DesignBrand): Promise<CompiledSource> {
  const preheader = source.preheader === null ? [] : templateFaults(source.preheader, "preheader");
  try {
    const html = await (source.body.format === "html"
      ? compileHtml(source.body.html, source)
      : compileToMjml(source.body, source, brand));
    return preheader.length === 0 ? { ok: true, html } : { ok: false, faults: preheader };
  } catch (fault) {
    if (fault instanceof SourceFaults) return { ok: false, faults: [...preheader, ...fault.faults] };
    throw fault;
  }
}

function compileHtml(html: string, { preheader, layout, isLayout }: ContentSource): string {
  requireTemplate(html, "html_content");
  if (isLayout) requirePlace(html, "html");
  const joined = layout === null ? html : joinHtml(layout, html);
  return preheader === null ? joined : withHtmlPreview(joined, preheader);
}

function joinHtml(layout: WrittenBody, html: string): string {
  if (layout.format !== "html") {
    throw new SourceFaults(fieldFault("layout_id", "is of a layout in MJML, which wraps MJML and designs"));
  }
  const document = /<\/?(?:!doctype|html|head|body)\b/i.exec(html);
  if (document !== null) {
    const message = "The layout has the document: leave out <html>, <head> and <body>.";
    throw faultsAt("html_content", html, [{ at: document.index, message }]);
  }
  const faults = fragmentFaults(html);
  if (faults.length > 0) throw faultsAt("html_content", html, faults);
  const [place] = contentPlaces(layout.html);
  if (place === undefined) throw new Error("a layout without a place for its content");
  return layout.html.slice(0, place.start) + html + layout.html.slice(place.end);
}

/** What would hide a part of the layout around the HTML, or end its elements. */
function fragmentFaults(html: string): PlacedFault[] {
  const parts = hiddenPartsOf(html);
  const hiding = parts?.hiding(html.length) ?? null;
  const open = hiding && {
    at: hiding.at,
    message: `This ${hiding.what} is left open and hides the part of the layout behind it: close it.`,
  };
  const ends = parts?.strayEnds().map(({ at, what }) => ({
    at,
    message: `This ${what} ends an element of the layout, and none of the template: leave it out.`,
  }));
  return [...(ends ?? []), ...(open === null ? [] : [open])];
}

async function compileToMjml(body: MjmlBody, source: ContentSource, brand: DesignBrand): Promise<string> {
  const { preheader, layout, isLayout } = source;
  const field = bodyFields[body.format];
  if (layout?.format === "html") {
    throw new SourceFaults(fieldFault("layout_id", "is of a layout in HTML, which wraps HTML"));
  }
  // The layout has the logo.
  const own = mjmlOf(body, preheader, layout === null ? brand : { ...brand, logo_url: null });
  if (isLayout) requirePlace(own, body.format);
  if (layout !== null && body.format === "mjml") requireElements(own);
  const joined = layout === null ? own : joinMjml(mjmlOf(layout, null, brand), own);
  const shown = preheader === null || body.format === "design" ? joined : withPreview(joined, preheader);
  if (shown === null) {
    throw new SourceFaults(
      fieldFault("preheader", "the MJML has an mj-preview already: leave one of them out"),
    );
  }
  const compiled = await compileMjml(shown);
  if (compiled.ok) return compiled.html;
  // Places in a document that was joined or completed mean nothing to its author.
  const alone = layout === null && body.format === "mjml" ? await compileMjml(own) : null;
  if (alone?.ok === false) throw faultsAt(field, own, alone.faults);
  const said = layout === null ? "" : "with its layout: ";
  throw new SourceFaults(...compiled.faults.map(({ message }) => fieldFault(field, said + message)));
}

/** The MJML of a body, in which a design has its preheader. */
function mjmlOf(body: MjmlBody, preheader: string | null, brand: DesignBrand): string {
  if (body.format === "mjml") {
    requireTemplate(body.mjml, "mjml");
    return body.mjml;
  }
  const reading = readDesign(body.design);
  if (!reading.ok) throw new SourceFaults(...reading.faults);
  return designToMjml({ ...reading.design, ...(preheader !== null && { preheader }) }, brand);
}

/** The elements of MJML that gets a layout, while their places are those of the author. */
function requireElements(mjml: string): void {
  const marked = new MarkedSource(mjml);
  const { faults } = readMjml(marked);
  if (faults.length === 0) return;
  throw faultsAt(
    "mjml",
    mjml,
    faults.map(({ at, message }) => ({ at: marked.offsetOf(at), message })),
  );
}

function requireTemplate(source: string, field: string): void {
  const faults = templateFaults(source, field);
  if (faults.length > 0) throw new SourceFaults(...faults);
}

function templateFaults(source: string, field: string): FieldFault[] {
  const reading = readTemplate(source);
  return reading.ok ? [] : reading.faults.map(inField(field));
}

/** @throws SourceFaults unless a layout has one place for the content of others */
function requirePlace(source: string, format: WrittenBody["format"]): void {
  const fault = contentPlaceFault(source, format);
  if (fault !== null) throw new SourceFaults(fieldFault(bodyFields[format], fault));
}

function faultsAt(field: string, source: string, faults: readonly PlacedFault[]): SourceFaults {
  return new SourceFaults(...locateFaults(source, faults).map(inField(field)));
}

/** The HTML with the text that lists of mail show, at the beginning of its body, where readers of the mail do not see it. */
function withHtmlPreview(html: string, preheader: string): string {
  const style =
    "display:none;font-size:1px;color:#ffffff;line-height:1px;max-height:0;max-width:0;opacity:0;overflow:hidden";
  const preview = `<div style="${style}">${escapedText(preheader)}</div>`;
  const body = mapHtml(html)?.tags.find(({ element, isInComment }) => element === "body" && !isInComment);
  const at = body?.end ?? 0;
  return html.slice(0, at) + preview + html.slice(at);
}
