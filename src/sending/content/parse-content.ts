/** Parses the content of a campaign as its author wrote it, and finds its faults. */
import { headerTextFault } from "#mail/address.ts";
import { mostMarkup } from "#mail/html/tag-positions.ts";
import { captureFaults, type HtmlTemplate, htmlTemplate } from "#mail/merge-tags/html-template.ts";
import {
  locateFaults,
  readTemplate,
  type Template,
  type TemplateFault,
} from "#mail/merge-tags/read-template.ts";
import type { PlacedFault } from "#mail/merge-tags/template-errors.ts";
import type { FieldFault } from "#platform/errors.ts";
import { unknownNames } from "./merge-tag-names.ts";

export type MessageType = "email" | "sms";

/** The content fields of a campaign. An SMS has only text_content. */
export interface CampaignContent {
  readonly subject: string;
  readonly html_content: string | null;
  readonly text_content: string | null;
}

/** A fault in a content field. Line and column count from 1; the message names them. */
export interface ContentFault extends FieldFault, TemplateFault {}

export interface ContentReading {
  readonly subject: Template;
  /** Null when omitted or blank. */
  readonly html: HtmlTemplate | null;
  readonly text: Template | null;
  /** Faults that prevent sending. If there are any, the templates must not be used. */
  readonly faults: readonly ContentFault[];
  /** Merge tags that show nothing. */
  readonly warnings: readonly ContentFault[];
}

/** The fault of HTML with too much markup, as written or with the footer. */
export const tooMuchMarkup: ContentFault = fieldFault(
  "html_content",
  `shorten this to ${mostMarkup} tags, attributes and comments`,
);

const nothing: Template = { source: "", pieces: [], variables: [] };

/** @param fields names of the defined custom fields */
export function readContent(given: CampaignContent, fields: ReadonlySet<string>): ContentReading {
  const faults: ContentFault[] = [];
  const warnings: ContentFault[] = [];
  const read = (field: keyof CampaignContent, check: (template: Template) => PlacedFault[]) => {
    const source = given[field] ?? "";
    const reading = readTemplate(source);
    if (!reading.ok) faults.push(...reading.faults.map(inField(field)));
    const template = reading.ok ? reading.template : nothing;
    faults.push(...locateFaults(source, check(template)).map(inField(field)));
    warnings.push(...locateFaults(source, unknownNames(template, fields)).map(inField(field)));
    return source.trim() === "" ? null : template;
  };
  const lineFault = headerTextFault(given.subject);
  if (lineFault !== null) faults.push(fieldFault("subject", lineFault));
  const subject = read("subject", () => []) ?? nothing;
  const written = read("html_content", captureFaults);
  const html = written && htmlTemplate(written);
  if (written !== null && html === null) faults.push(tooMuchMarkup);
  const text = read("text_content", () => []);
  if (written === null && text === null) {
    faults.push(fieldFault("html_content", "give the mail an html_content or a text_content"));
  }
  return { subject, html, text, faults, warnings };
}

/** A fault of a field as a whole. */
export function fieldFault(field: string, message: string): ContentFault {
  return { field, line: 1, column: 1, message: `${field}: ${message}` };
}

/** A fault of a template, as one of the field that holds it. */
export function inField(field: string) {
  return ({ line, column, message }: TemplateFault): ContentFault => ({
    field,
    line,
    column,
    message: `${field}, line ${line}, column ${column}: ${message}`,
  });
}
