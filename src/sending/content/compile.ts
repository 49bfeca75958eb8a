/**
 * The content of a campaign, from what its author wrote to what is rendered for each recipient: read and checked,
 * completed by what a mail needs (a way out, a text part, links and a pixel that lead back), and compiled, once. Nothing
 * here knows a database or the state of a campaign.
 */

import { compileTemplate, type Render } from "#mail/merge-tags/compile.ts";
import { bodyEnd, type HtmlTemplate, htmlTemplate, placeInsertions } from "#mail/merge-tags/html.ts";
import { readTemplate, type Template } from "#mail/merge-tags/merge-tags.ts";
import { type Insertion, withInsertions } from "#mail/merge-tags/pieces.ts";
import { seenText } from "#mail/merge-tags/seen.ts";
import { addressInsertions, textTemplateOf } from "#mail/merge-tags/text.ts";
import { type TemplateLink, trackLinks } from "#mail/merge-tags/tracked-links.ts";
import {
  htmlWayOut,
  textWayOut,
  type WayOut,
  whereMissing,
  withHtmlFooter,
  withTextFooter,
} from "./footer.ts";
import {
  type CampaignContent,
  type ContentFault,
  type ContentReading,
  crowdedFault,
  fieldFault,
  readContent,
} from "./read.ts";
import { type RenderableContent, renderContent, sampleLinks, sampleValues } from "./render.ts";
import { type UsedNames, usedNames } from "./variables.ts";

export interface ContentOptions {
  readonly tracksOpens: boolean;
  readonly tracksClicks: boolean;
  /** Whether a body that lets nobody unsubscribe is given a footer that does. Not for SMS. */
  readonly addsFooter: boolean;
  /** Names of the custom fields there are; others are reported. */
  readonly fields: ReadonlySet<string>;
  /** IANA name, for the filter `date`. */
  readonly timezone: string;
}

/** What is known of the content without any recipient. Plain data, which may be stored. */
export interface ContentFacts extends UsedNames {
  /** Those that are tracked, at the index that is given to `tracked`. */
  readonly links: readonly TemplateLink[];
}

/** Content that is ready for renderContent (render.ts). */
export interface CompiledContent extends RenderableContent {
  readonly facts: ContentFacts;
}

/** Faults keep a campaign from being sent; warnings are names that show nothing. */
export type Compilation = { readonly warnings: readonly ContentFault[] } & (
  | { readonly ok: true; readonly content: CompiledContent }
  | { readonly ok: false; readonly faults: readonly ContentFault[] }
);

/** Reads, checks and compiles. The same content and options give the same links at the same indexes. */
export function compileContent(given: CampaignContent, options: ContentOptions): Compilation {
  const { faults, warnings, ...templates } = readContent(given, options.fields);
  if (faults.length > 0) return { ok: false, faults, warnings };
  const content = compileTemplates(templates, options);
  if (content === null) return { ok: false, faults: [crowdedFault], warnings };
  const trial = renderContent(content, sampleValues, sampleLinks);
  if (trial.ok) return { ok: true, content, warnings };
  return { ok: false, faults: [fieldFault(trial.fault.field, trial.fault.message)], warnings };
}

/** Null where the HTML has too much markup with the footer. */
function compileTemplates(
  given: Pick<ContentReading, "subject" | "html" | "text">,
  { tracksOpens, tracksClicks, addsFooter, timezone }: ContentOptions,
): CompiledContent | null {
  const { subject } = given;
  const compile = ({ source }: Template, kind: "html" | "text" | "line", added: readonly Insertion[]) =>
    compileTemplate(withInsertions(source, added), kind, timezone);
  const html = given.html && formsOf(given.html, addsFooter, htmlWayOut, footedHtml);
  if (given.html !== null && html === null) return null;
  const linksOf = (form: HtmlTemplate) => (tracksClicks ? trackLinks(form) : { links: [], insertions: [] });
  // The footer's own link is not tracked: with it the others have the same places.
  const { links, insertions } = html ? linksOf(html.first) : { links: [], insertions: [] };
  const compileHtml = (form: HtmlTemplate) => {
    const pixel = tracksOpens ? [{ at: bodyEnd(form), text: "{% open_pixel %}" }] : [];
    const tracked = form === html?.first ? insertions : linksOf(form).insertions;
    return compile(form, "html", [...placeInsertions(form), ...tracked, ...pixel]);
  };
  const compileText = (form: Template) => compile(form, "text", addressInsertions(form));
  const writtenText = given.text ?? (html && automaticText(html.first));
  const text = writtenText && formsOf(writtenText, addsFooter, textWayOut, footedText);
  const templates = [subject, html?.first, text?.first].filter((template) => template != null);
  return {
    facts: { ...usedNames(templates), links },
    subject: compile(subject, "line", addressInsertions(subject)),
    html: html && compiledForms(html, compileHtml, seenText),
    text: text && compiledForms(text, compileText, String),
  };
}

/** A template as most recipients get it, and what the others get, where the values decide. */
interface Forms<Kind extends Template> {
  readonly first: Kind;
  readonly whereMissing: Kind | null;
}

/** Null where one is wanted with the footer, and there is none. */
function formsOf<Kind extends Template>(
  template: Kind,
  addsFooter: boolean,
  wayOutOf: (template: Kind) => WayOut,
  footed: (template: Kind) => Kind | null,
): Forms<Kind> | null {
  const wayOut = addsFooter ? wayOutOf(template) : "shown";
  if (wayOut === "shown") return { first: template, whereMissing: null };
  const withFooter = footed(template);
  if (withFooter === null) return null;
  return wayOut === "missing"
    ? { first: withFooter, whereMissing: null }
    : { first: template, whereMissing: withFooter };
}

function compiledForms<Kind extends Template>(
  forms: Forms<Kind>,
  compile: (form: Kind) => Render,
  seen: (rendered: string) => string,
): Render {
  const first = compile(forms.first);
  return forms.whereMissing === null ? first : whereMissing(first, compile(forms.whereMissing), seen);
}

const footedHtml = (html: HtmlTemplate) => htmlTemplate(footedTemplate(withHtmlFooter(html)));
const footedText = (text: Template) => footedTemplate(withTextFooter(text));

/**
 * Empty for HTML that shows nothing. Null for HTML whose tags cannot be kept in a text: a block may end where the text
 * shows nothing.
 */
function automaticText(html: HtmlTemplate): Template | null {
  const source = textTemplateOf(html);
  const reading = source === null ? null : readTemplate(source, html.source.length);
  return reading?.ok ? reading.template : null;
}

/** A template with what was added to it. */
function footedTemplate(source: string): Template {
  const reading = readTemplate(source, source.length);
  if (!reading.ok) throw new Error(`A footer broke a template: ${reading.faults[0]?.message}`);
  return reading.template;
}
