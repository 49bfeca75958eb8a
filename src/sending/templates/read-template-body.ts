/** Reads the bodies of POST and PATCH into the settings of a template: its name, its content and its test data. */
import { type FieldFault, invalid } from "#platform/errors.ts";
import { fieldError, readBody, readDesignSize, readSubject } from "#sending/mail-fields.ts";
import { readName } from "#workspace/read-display-name.ts";
import type { WrittenBody } from "./compile/content-source.ts";
import { readTestData } from "./merge-data.ts";
import type { StoredTemplate } from "./store.ts";
import type { MailTemplate, MailTemplateKind, NewTemplate, TemplateChange } from "./template.ts";

/** What a version has of its author. */
export interface TemplateContent {
  readonly subject: string;
  readonly preheader: string | null;
  readonly body: WrittenBody;
  readonly text_content: string | null;
  readonly layout_id: string | null;
}

export interface TemplateSettings {
  readonly kind: MailTemplateKind;
  readonly name: string;
  readonly test_data: MailTemplate["test_data"];
  readonly content: TemplateContent;
}

/** @throws ApiError VALIDATION_ERROR */
export function readTemplateBody(body: NewTemplate): TemplateSettings {
  const kind = body.kind ?? "mail";
  return {
    kind,
    name: readName(body.name),
    test_data: readTestData(body.test_data ?? {}),
    content: readContent(kind, body, requireWritten(body)),
  };
}

/** The template with the fields that the body has. @throws ApiError VALIDATION_ERROR */
export function readTemplateChange(current: StoredTemplate, body: TemplateChange): TemplateSettings {
  const { kind, name, test_data } = current;
  const fields = { ...current, ...withoutUndefined(body) };
  return {
    kind,
    name: body.name === undefined ? name : readName(body.name),
    test_data: body.test_data === undefined ? test_data : readTestData(body.test_data ?? {}),
    content: readContent(kind, fields, namesBody(body) ? requireWritten(body) : writtenBody(current)),
  };
}

/** Whether a change gives the body. */
export function namesBody({ html_content, mjml, design }: TemplateChange): boolean {
  return [html_content, mjml, design].some((part) => part !== undefined);
}

/** The body of a template or a version, of which one field has it. */
export function writtenBody({
  format,
  html_content,
  mjml,
  design,
}: Pick<MailTemplate, "format" | "html_content" | "mjml" | "design">): WrittenBody {
  if (format === "mjml") return { format, mjml: mjml ?? "" };
  if (format === "design") return { format, design: design ?? {} };
  return { format, html: html_content ?? "" };
}

type ContentFields = Pick<TemplateChange, "subject" | "preheader" | "text_content" | "layout_id">;

function readContent(kind: MailTemplateKind, fields: ContentFields, body: WrittenBody): TemplateContent {
  const { subject, layout_id = null } = fields;
  const preheader = readBody(fields.preheader);
  const text_content = readBody(fields.text_content);
  if (kind === "mail") {
    if (subject == null || subject === "") throw fieldError("subject", "is required");
    return { subject: readSubject(subject), preheader, body, text_content, layout_id };
  }
  const own = { subject: readBody(subject), preheader, text_content, layout_id };
  const faults = Object.entries(own).flatMap(([field, value]): FieldFault[] =>
    value === null
      ? []
      : [{ field, message: `${field} is of the templates in a layout, and not of the layout` }],
  );
  const [first, ...rest] = faults;
  if (first !== undefined) throw invalid(first, ...rest);
  return { subject: "", preheader: null, body, text_content: null, layout_id: null };
}

/** @throws ApiError VALIDATION_ERROR unless exactly one of the fields has a body */
function requireWritten({ html_content, mjml, design }: TemplateChange): WrittenBody {
  const [html, ownMjml] = [readBody(html_content), readBody(mjml)];
  const bodies: WrittenBody[] = [];
  if (html !== null) bodies.push({ format: "html", html });
  if (ownMjml !== null) bodies.push({ format: "mjml", mjml: ownMjml });
  if (design != null) bodies.push({ format: "design", design: readDesignSize(design) });
  const [body, ...others] = bodies;
  if (body === undefined) throw fieldError("html_content", "is required, or mjml, or design");
  if (others.length > 0) {
    throw fieldError("html_content", "excludes mjml and design, as each of them does the others: give one");
  }
  return body;
}

function withoutUndefined(body: TemplateChange): TemplateChange {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
}
