/**
 * Compiles the content of a campaign once, for rendering it for each recipient: it reads and checks what the author wrote,
 * and adds an unsubscribe link, a text part, tracked links and an open pixel where needed. It uses no database.
 */

import { compileTemplate, type Render } from "#mail/merge-tags/compile.ts";
import { bodyEnd, type HtmlTemplate, htmlTemplate, placeInsertions } from "#mail/merge-tags/html-template.ts";
import { locateFaults, readTemplate, type Template } from "#mail/merge-tags/read-template.ts";
import { type Insertion, withInsertions } from "#mail/merge-tags/template-pieces.ts";
import { textTemplateOf, urlInsertions } from "#mail/merge-tags/text-template.ts";
import { type TemplateLink, trackLinks } from "#mail/merge-tags/tracked-links.ts";
import { visibleText } from "#mail/merge-tags/visible-text.ts";
import { type UsedNames, usedNames, withFields } from "./merge-tag-names.ts";
import {
  type CampaignContent,
  type ContentFault,
  type ContentReading,
  fieldFault,
  inField,
  readContent,
  tooMuchMarkup,
} from "./parse-content.ts";
import { type RenderableContent, renderContent, sampleLinks, sampleValues } from "./render.ts";
import {
  type Footer,
  footerFault,
  footerIfMissing,
  htmlUnsubscribeLink,
  textUnsubscribeLink,
  type UnsubscribeLink,
  withHtmlFooter,
  withTextFooter,
} from "./unsubscribe-footer.ts";

export interface ContentOptions {
  readonly tracksOpens: boolean;
  readonly tracksClicks: boolean;
  /** What is added to a body without an unsubscribe link. Null for SMS. */
  readonly footer: Footer | null;
  /** Names of the defined custom fields; other names cause warnings. */
  readonly fields: ReadonlySet<string>;
  /** IANA name, for the filter `date`. */
  readonly timezone: string;
}

/** Facts about the content that do not depend on a recipient. Plain data, which may be stored. */
export interface ContentFacts extends UsedNames {
  /** The tracked links; their position is the index that `MailLinks.tracked` gets. */
  readonly links: readonly TemplateLink[];
}

/** Content for renderContent (render.ts). */
export interface CompiledContent extends RenderableContent {
  readonly facts: ContentFacts;
  /** Whether a body that its author wrote has no visible unsubscribe link, and so has the footer with one. */
  readonly hasFooter: boolean;
}

/** Faults prevent sending; warnings are merge tags that show nothing. */
export type Compilation = { readonly warnings: readonly ContentFault[] } & (
  | { readonly ok: true; readonly content: CompiledContent }
  | { readonly ok: false; readonly faults: readonly ContentFault[] }
);

/** The same content and options always give the same links at the same indexes. */
export function compileContent(given: CampaignContent, options: ContentOptions): Compilation {
  const { faults, warnings, ...templates } = readContent(given, options.fields);
  if (faults.length > 0) return { ok: false, faults, warnings };
  const content = compileTemplates(templates, options);
  if ("faults" in content) return { ...content, ok: false, warnings };
  const trial = renderContent(content, sampleValues, sampleLinks);
  if (trial.ok) return { ok: true, content, warnings };
  return { ok: false, faults: [fieldFault(trial.fault.field, trial.fault.message)], warnings };
}

/** A subject that replaces that of compiled content. The fault names the field `subject`. */
export function compileSubject(
  subject: string,
  timezone: string,
): { readonly ok: true; readonly subject: Render } | { readonly ok: false; readonly fault: ContentFault } {
  const reading = readTemplate(subject);
  if (reading.ok) return { ok: true, subject: compileLine(reading.template, timezone) };
  const [fault] = reading.faults.map(inField("subject"));
  return { ok: false, fault: fault ?? fieldFault("subject", "cannot be read") };
}

function compileLine(template: Template, timezone: string): Render {
  return compileTemplate(withInsertions(template.source, urlInsertions(template)), "line", timezone);
}

/** The faults are those of HTML that takes no footer: it has too much markup, or hides the place of the footer. */
function compileTemplates(
  given: Pick<ContentReading, "subject" | "html" | "text">,
  { tracksOpens, tracksClicks, footer, timezone }: ContentOptions,
): CompiledContent | { readonly faults: readonly ContentFault[] } {
  const { subject } = given;
  const compile = ({ source }: Template, kind: "html" | "text", added: readonly Insertion[]) =>
    compileTemplate(withInsertions(source, added), kind, timezone);
  const html = given.html && formsOf(given.html, footer, htmlUnsubscribeLink, footedHtml);
  if (given.html !== null && html === null) return { faults: [tooMuchMarkup] };
  const isFooted = html !== null && (html.hasFooter || html.ifLinkMissing !== null);
  const hiding = given.html !== null && isFooted ? footerFault(given.html) : null;
  if (given.html !== null && hiding !== null) {
    return { faults: locateFaults(given.html.source, [hiding]).map(inField("html_content")) };
  }
  const linksOf = (form: HtmlTemplate) => (tracksClicks ? trackLinks(form) : { links: [], insertions: [] });
  // The footer's link is not tracked, so the other links have the same indexes with and without it.
  const { links, insertions } = html ? linksOf(html.first) : { links: [], insertions: [] };
  const compileHtml = (form: HtmlTemplate) => {
    const pixel = tracksOpens ? [{ at: bodyEnd(form), text: "{% open_pixel %}" }] : [];
    const tracked = form === html?.first ? insertions : linksOf(form).insertions;
    return compile(form, "html", [...placeInsertions(form), ...tracked, ...pixel]);
  };
  const compileText = (form: Template) => compile(form, "text", urlInsertions(form));
  const writtenText = given.text ?? (html && automaticText(html.first));
  const text = writtenText && formsOf(writtenText, footer, textUnsubscribeLink, footedText);
  // As written: the names of the footer are none of the author's.
  const used = usedNames([subject, given.html, given.text].filter((template) => template !== null));
  const mayBeFooted = [html, text].some((form) => form && (form.hasFooter || form.ifLinkMissing !== null));
  const personalWords = mayBeFooted ? (footer?.personal ?? null) : null;
  return {
    facts: { ...withFields(used, personalWords?.fields ?? []), links },
    personalWords,
    hasFooter: html?.hasFooter === true || (given.text !== null && text?.hasFooter === true),
    subject: compileLine(subject, timezone),
    html: html && compiledForms(html, compileHtml, visibleText),
    text: text && compiledForms(text, compileText, String),
  };
}

/** The forms of a body. If merge tags decide whether the unsubscribe link is shown, both are compiled. */
interface Forms<Kind extends Template> {
  readonly first: Kind;
  /** The form with the footer, for recipients for whom the first shows no unsubscribe link. */
  readonly ifLinkMissing: Kind | null;
  /** Whether the first form has the footer. */
  readonly hasFooter: boolean;
}

/** Null when the body needs the footer and the footer cannot be added. */
function formsOf<Kind extends Template>(
  template: Kind,
  footer: Footer | null,
  linkIn: (template: Kind) => UnsubscribeLink,
  footed: (template: Kind, footer: Footer) => Kind | null,
): Forms<Kind> | null {
  const link = footer === null ? "shown" : linkIn(template);
  if (footer === null || link === "shown") return { first: template, ifLinkMissing: null, hasFooter: false };
  const withFooter = footed(template, footer);
  if (withFooter === null) return null;
  return link === "missing"
    ? { first: withFooter, ifLinkMissing: null, hasFooter: true }
    : { first: template, ifLinkMissing: withFooter, hasFooter: false };
}

function compiledForms<Kind extends Template>(
  forms: Forms<Kind>,
  compile: (form: Kind) => Render,
  seen: (rendered: string) => string,
): Render {
  const first = compile(forms.first);
  return forms.ifLinkMissing === null ? first : footerIfMissing(first, compile(forms.ifLinkMissing), seen);
}

const footedHtml = (html: HtmlTemplate, footer: Footer) =>
  htmlTemplate(footedTemplate(withHtmlFooter(html, footer)));
const footedText = (text: Template, footer: Footer) => footedTemplate(withTextFooter(text, footer));

/**
 * The text template made from an HTML template: empty if the HTML shows nothing, null if its merge tags cannot be kept in a
 * text, for example because a block ends in a part that the text leaves out.
 */
function automaticText(html: HtmlTemplate): Template | null {
  const source = textTemplateOf(html);
  const reading = source === null ? null : readTemplate(source, html.source.length);
  return reading?.ok ? reading.template : null;
}

/** Parses the source of a template with its footer. */
function footedTemplate(source: string): Template {
  const reading = readTemplate(source, source.length);
  if (!reading.ok) throw new Error(`A footer broke a template: ${reading.faults[0]?.message}`);
  return reading.template;
}
