/** Parses HTML with merge tags. @throws if it has too much markup */
import { type HtmlTemplate, htmlTemplate } from "#mail/merge-tags/html-template.ts";
import { readTemplate } from "#mail/merge-tags/read-template.ts";

export function readHtmlTemplate(source: string): HtmlTemplate {
  const reading = readTemplate(source);
  if (!reading.ok) throw new Error(reading.faults[0]?.message);
  const template = htmlTemplate(reading.template);
  if (template === null) throw new Error("the template has too much markup");
  return template;
}
