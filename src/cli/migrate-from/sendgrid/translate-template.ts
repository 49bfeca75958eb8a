/** Translates Handlebars of SendGrid's dynamic templates, as far as they only show values. */
import type { GivenTemplate } from "#cli/migrate-from/source.ts";
import { type Translation, translateTags } from "#cli/migrate-from/translate-tags.ts";

export interface SendGridTemplate {
  readonly name: string;
  readonly subject?: string | null;
  readonly html_content?: string | null;
  readonly plain_content?: string | null;
}

const tags = /(\{\{\{|\{\{)\s*([^{}]*?)\s*\}\}\}?|<%\s*(\w+)\s*%>/g;

/** Addresses that SendGrid fills in, with two or three braces. */
const addresses: Readonly<Record<string, string>> = {
  unsubscribe: "{{ unsubscribe_url }}",
  unsubscribe_preferences: "{{ unsubscribe_url }}",
  asm_group_unsubscribe_raw_url: "{{ unsubscribe_url }}",
  asm_global_unsubscribe_raw_url: "{{ unsubscribe_url }}",
  asm_preferences_raw_url: "{{ unsubscribe_url }}",
  weblink: "{{ view_in_browser_url }}",
};
const words = new Set(["else", "this"]);

export function translateSendGridTemplate(template: SendGridTemplate): GivenTemplate {
  const { name, plain_content } = template;
  const subject = translate(template.subject?.trim() || name);
  const html = translate(template.html_content ?? "");
  const text = plain_content?.trim() ? translate(plain_content) : undefined;
  return {
    kind: "template",
    template: "mail",
    name,
    subject: subject.text,
    html: html.text,
    text: text?.text ?? null,
    untranslated: [...subject.untranslated, ...html.untranslated, ...(text?.untranslated ?? [])],
  };
}

function translate(given: string): Translation {
  return translateTags(given, tags, ([, braces, expression = "", substitution]) => {
    const name = substitution ?? expression;
    if (Object.hasOwn(addresses, name)) return addresses[name];
    // Three braces show a value as HTML, which no merge tag does.
    if (substitution !== undefined || braces === "{{{") return undefined;
    if (expression.startsWith("!")) return "";
    if (/^[a-z_]\w*(?:\.\w+)*$/i.test(expression) && !words.has(expression)) return `{{ ${expression} }}`;
    const [, inserted, fallback] =
      /^insert\s+([a-z_]\w*(?:\.\w+)*)(?:\s+"default=([^"{}]*)")?$/i.exec(expression) ?? [];
    if (inserted === undefined) return undefined;
    return fallback === undefined ? `{{ ${inserted} }}` : `{{ ${inserted} | default: "${fallback}" }}`;
  });
}
