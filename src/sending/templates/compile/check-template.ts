/**
 * Compiles a template and tries it, so that what is stored can be sent. It may take seconds: it runs in a thread
 * (compile-thread.ts).
 */
import { locateFaults, readTemplate } from "#mail/merge-tags/read-template.ts";
import type { FieldFault } from "#platform/errors.ts";
import { compileContent } from "#sending/content/compile.ts";
import { unknownNames } from "#sending/content/merge-tag-names.ts";
import { type ContentFault, fieldFault, inField, readContent } from "#sending/content/parse-content.ts";
import type { DesignBrand } from "#sending/designs/design.ts";
import { compileSource } from "./compile-source.ts";
import { bodyFields, type ContentSource } from "./content-source.ts";

export interface TemplateToCheck {
  readonly source: ContentSource;
  readonly subject: string;
  readonly text_content: string | null;
  /** Names that have a value: custom fields and the names of the test data. */
  readonly fields: readonly string[];
  /** IANA name. */
  readonly timezone: string;
}

export type CheckedTemplate =
  | { readonly ok: true; readonly html: string; readonly warnings: readonly ContentFault[] }
  | { readonly ok: false; readonly faults: readonly FieldFault[] };

export async function checkTemplate(template: TemplateToCheck, brand: DesignBrand): Promise<CheckedTemplate> {
  const { source, subject, text_content } = template;
  const compiled = await compileSource(source, brand);
  const fields = new Set(template.fields);
  if (!compiled.ok) {
    const others = readContent({ subject, html_content: null, text_content }, fields).faults;
    return {
      ok: false,
      faults: [...others.filter((fault) => fault.field !== "html_content"), ...compiled.faults],
    };
  }
  const field = bodyFields[source.body.format];
  const content = compileContent(
    { subject, html_content: compiled.html, text_content },
    { tracksOpens: false, tracksClicks: false, footer: null, fields, timezone: template.timezone },
  );
  // Lines of HTML that was made from something else mean nothing to the author.
  const placed = (fault: FieldFault) =>
    fault.field !== "html_content" || isAsWritten(source)
      ? fault
      : fieldFault(field, fault.message.replace(/^html_content(?:, line \d+, column \d+)?: /, ""));
  if (!content.ok) return { ok: false, faults: content.faults.map(placed) };
  const ofOthers = content.warnings.filter((warning) => warning.field !== "html_content");
  return {
    ok: true,
    html: compiled.html,
    warnings: [...ofOthers, ...bodyWarnings(source, compiled.html, fields)],
  };
}

/** Merge tags of the body that show nothing, where their author wrote them. */
function bodyWarnings(
  { body, isLayout }: ContentSource,
  html: string,
  names: ReadonlySet<string>,
): ContentFault[] {
  const fields = isLayout ? new Set([...names, "content"]) : names;
  const field = bodyFields[body.format];
  const source = body.format === "html" ? body.html : body.format === "mjml" ? body.mjml : html;
  const reading = readTemplate(source);
  if (!reading.ok) return [];
  const unknown = unknownNames(reading.template, fields);
  if (body.format !== "design") return locateFaults(source, unknown).map(inField(field));
  return [...new Set(unknown.map(({ message }) => message))].map((message) => fieldFault(field, message));
}

function isAsWritten({ body, preheader, layout }: ContentSource): boolean {
  return body.format === "html" && preheader === null && layout === null;
}
