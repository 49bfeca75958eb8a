/** Translates Go templates of listmonk, as far as they only show values (listmonk's documentation, "Templating"). */
import { fieldNameOf } from "#cli/migrate-from/field-names.ts";
import type { GivenTemplate } from "#cli/migrate-from/source.ts";
import { type Translation, translateTags } from "#cli/migrate-from/translate-tags.ts";

export interface ListmonkTemplate {
  readonly name: string;
  readonly type: string;
  readonly subject?: string | null;
  readonly body: string;
}

const tags = /\{\{-?\s*(.*?)\s*-?\}\}(?:\?manage=true)?/gs;

/** Tags without arguments. */
const plainTags: Readonly<Record<string, string>> = {
  ".Subscriber.Email": "{{ email }}",
  ".Subscriber.FirstName": "{{ first_name }}",
  ".Subscriber.LastName": "{{ last_name }}",
  ".Subscriber.Name": "{{ first_name }} {{ last_name }}",
  ".Campaign.Name": "{{ campaign_name }}",
  UnsubscribeURL: "{{ unsubscribe_url }}",
  ManageURL: "{{ unsubscribe_url }}",
  MessageURL: "{{ view_in_browser_url }}",
  // Opens are tracked without a tag.
  TrackView: "",
  'template "content"': "{{ content }}",
  // The two texts of listmonk's own template.
  'L.T "email.unsub"': "Unsubscribe",
  'L.T "email.viewInBrowser"': "View in browser",
};

/** A template for campaigns is a layout if it has a place for their content. */
export function translateListmonkTemplate({ name, type, subject, body }: ListmonkTemplate): GivenTemplate {
  const isLayout = type !== "tx" && /\{\{-?\s*template\s+"content"/.test(body);
  const html = translate(
    body
      .replaceAll(/(https?:\/\/[^\s"'<>]*?)@TrackLink/g, "$1")
      // The title of a mail is not shown, and has no merge tag for the subject.
      .replaceAll(/(<title>)\s*\{\{\s*\.Campaign\.Subject\s*\}\}\s*(<\/title>)/gi, "$1$2"),
  );
  const translatedSubject = isLayout ? { text: "", untranslated: [] } : translate(subject || name);
  return {
    kind: "template",
    template: isLayout ? "layout" : "mail",
    name,
    subject: translatedSubject.text,
    html: html.text,
    text: null,
    untranslated: [...translatedSubject.untranslated, ...html.untranslated],
  };
}

function translate(text: string): Translation {
  return translateTags(text, tags, ([, given = ""]) => {
    // The context at the end of a call, as in {{ TrackLink "https://example.com" . }}.
    const tag = given.replace(/\s+\.$/, "");
    if (Object.hasOwn(plainTags, tag)) return plainTags[tag];
    if (/^\/\*.*\*\/$/s.test(tag)) return "";
    const [, attribute] =
      /^\.Subscriber\.Attribs\.([\w.]+)$/.exec(tag) ??
      /^index \.Subscriber\.Attribs "([^"]+)"$/.exec(tag) ??
      [];
    if (attribute !== undefined) return `{{ custom_fields.${fieldNameOf(attribute)} }}`;
    const [, datum] = /^\.Tx\.Data\.(\w+(?:\.\w+)*)$/.exec(tag) ?? [];
    if (datum !== undefined) return `{{ ${datum} }}`;
    const [, link] = /^TrackLink "([^"{}]*)"$/.exec(tag) ?? [];
    if (link !== undefined) return link;
    const [, safe] = /^Safe "([^"\\{}]*)"$/.exec(tag) ?? [];
    return safe;
  });
}
