/** Reads the content of a campaign as its author wrote it, and finds what is wrong with it. */
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
import { unknownNames } from "./variables.ts";

/** The fields of a campaign that are content, as its row has them. An SMS has a text and no more. */
export type MessageType = "email" | "sms";

export interface CampaignContent {
  readonly subject: string;
  readonly html_content: string | null;
  readonly text_content: string | null;
}

/** What is wrong with a field, and where; line and column count from 1, and the message names them. */
export interface ContentFault extends FieldFault, TemplateFault {}

export interface ContentReading {
  readonly subject: Template;
  /** Null where it was left out, or blank. */
  readonly html: HtmlTemplate | null;
  readonly text: Template | null;
  /** What keeps the content from being sent. Where there is any, the templates are of no use. */
  readonly faults: readonly ContentFault[];
  /** Names that show nothing. */
  readonly warnings: readonly ContentFault[];
}

/** Of HTML that cannot be mapped, as its author wrote it or with what is added to it. */
export const tooMuchMarkup: ContentFault = fieldFault(
  "html_content",
  `shorten this to ${mostMarkup} tags, attributes and comments`,
);

const nothing: Template = { source: "", pieces: [], variables: [] };

/** @param fields names of the custom fields there are */
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

/** A fault of a whole field. */
export function fieldFault(field: string, message: string): ContentFault {
  return { field, line: 1, column: 1, message: `${field}: ${message}` };
}

function inField(field: string) {
  return ({ line, column, message }: TemplateFault): ContentFault => ({
    field,
    line,
    column,
    message: `${field}, line ${line}, column ${column}: ${message}`,
  });
}
