/** Translates merge tags of Mailchimp, such as *|FNAME|*. */
import { fieldNameOf } from "#cli/migrate-from/field-names.ts";
import type { GivenTemplate } from "#cli/migrate-from/source.ts";
import { translateTags } from "#cli/migrate-from/translate-tags.ts";

const tags = /\*\|([^|]{1,500})\|\*/g;

const persons: Readonly<Record<string, string>> = { EMAIL: "email", FNAME: "first_name", LNAME: "last_name" };

/** Prefixes of a tag. Values are encoded for their place in any case, so the others need none. */
const filters: Readonly<Record<string, string>> = { UPPER: " | upcase", LOWER: " | downcase" };

const knownTags: Readonly<Record<string, string>> = {
  UNSUB: "{{ unsubscribe_url }}",
  ARCHIVE: "{{ view_in_browser_url }}",
  "LIST:NAME": "{{ list_name }}",
  CURRENT_YEAR: '{{ "now" | date: "%Y" }}',
  // The preheader is a field of a template.
  MC_PREVIEW_TEXT: "",
  // The badge of Mailchimp.
  REWARDS: "",
};

/** @param fields names of custom fields that the export has */
export function translateMailchimpTemplate(
  name: string,
  html: string,
  fields: ReadonlySet<string>,
): GivenTemplate {
  // The title of a mail is not shown, and has no merge tag for the subject.
  const withoutTitle = html.replaceAll(/(<title>)\s*\*\|MC:SUBJECT\|\*\s*(<\/title>)/gi, "$1$2");
  const { text, untranslated } = translateTags(withoutTitle, tags, ([, given = ""]) => {
    const [, prefix = "", tag = ""] = /^(?:(URL|HTML|UPPER|LOWER):)?(.+)$/s.exec(given.trim()) ?? [];
    if (Object.hasOwn(knownTags, tag)) return knownTags[tag];
    const value = Object.hasOwn(persons, tag) ? persons[tag] : fieldOf(tag, fields);
    const filter = filters[prefix] ?? "";
    return value === undefined ? undefined : `{{ ${value}${filter} }}`;
  });
  return { kind: "template", template: "mail", name, subject: name, html: text, text: null, untranslated };
}

function fieldOf(tag: string, fields: ReadonlySet<string>): string | undefined {
  const name = fieldNameOf(tag);
  return fields.has(name) ? `custom_fields.${name}` : undefined;
}
