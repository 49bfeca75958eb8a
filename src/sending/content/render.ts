/** Renders a campaign's content for one recipient. It runs for every message: it takes microseconds and never throws. */
import { UnfitValues } from "#delivery/message/presend-decision.ts";
import type { Render } from "#mail/merge-tags/compile.ts";
import { LONGEST_SUBJECT } from "#mail/message/encode-header.ts";
import type { MailText } from "#mail/message/shared-text-pieces.ts";
import type { FieldFault } from "#platform/errors.ts";
import type { MailLinks } from "#tracking/link-tokens.ts";
import type { fieldsVariable, VariableName } from "./merge-tag-names.ts";
import { footerValues, type PersonalWords } from "./unsubscribe-footer.ts";

/** The compiled templates of a mail. */
export interface RenderableContent {
  readonly subject: Render;
  /** Null when only a text was given: composing makes the HTML from the text. */
  readonly html: Render | null;
  /** Null when no text template could be made from the HTML: composing makes the text from the rendered HTML. */
  readonly text: Render | null;
  /** The words of the footer for each recipient; null if the mail has no footer, or the same one for all. */
  readonly personalWords: PersonalWords | null;
}

/** The values of merge tags. Values that the content does not use may be null or empty. */
export interface RecipientValues {
  readonly email: string;
  readonly first_name: string | null;
  readonly last_name: string | null;
  /** Stored values by field_name. */
  readonly custom_fields: Readonly<Record<string, unknown>>;
  readonly list_name: string | null;
  readonly campaign_name: string;
  /** The value of `now` in templates; the present time when omitted. */
  readonly now?: Date | undefined;
}

export type RenderedContent<Text = string> =
  | {
      readonly ok: true;
      readonly subject: string;
      readonly html: Text | null;
      readonly text: Text | null;
    }
  | { readonly ok: false; readonly fault: FieldFault };

/** Renders all parts; the fault names the field whose template does not fit the values. */
export function renderContent(
  content: RenderableContent,
  recipient: RecipientValues,
  links: MailLinks,
): RenderedContent {
  const mail = weaveContent(content, recipient, links);
  if (!mail.ok) return mail;
  return { ...mail, html: mail.html && String(mail.html), text: mail.text && String(mail.text) };
}

/** The values that every recipient has. */
export function variablesOf(
  recipient: RecipientValues,
  links: Pick<MailLinks, "unsubscribe" | "view">,
): Record<VariableName, string | null> {
  return {
    email: recipient.email,
    first_name: recipient.first_name,
    last_name: recipient.last_name,
    list_name: recipient.list_name,
    campaign_name: recipient.campaign_name,
    unsubscribe_url: links.unsubscribe,
    view_in_browser_url: links.view,
  };
}

/** Renders to MailText, which lets composing share the parts that are the same in all mails of a campaign. */
export function weaveContent(
  content: RenderableContent,
  recipient: RecipientValues,
  links: MailLinks,
): RenderedContent<MailText> {
  const variables: Record<VariableName | typeof fieldsVariable, unknown> = {
    ...variablesOf(recipient, links),
    custom_fields: recipient.custom_fields,
    ...(content.personalWords && footerValues(content.personalWords, recipient.custom_fields)),
  };
  const values = { variables, more: recipient.custom_fields, links, now: recipient.now };
  const subject = content.subject(values);
  if (!subject.ok) return failure("subject", subject.message);
  const html = content.html?.mailText(values);
  if (html?.ok === false) return failure("html_content", html.message);
  const text = content.text?.mailText(values);
  if (text?.ok === false) return failure("text_content", text.message);
  return {
    ok: true,
    subject: subject.text.slice(0, LONGEST_SUBJECT).toWellFormed(),
    html: html?.text ?? null,
    text: text?.text ?? null,
  };
}

function failure(field: string, message: string): RenderedContent<never> {
  return { ok: false, fault: { field, message } };
}

/** The fault as an error for the message log, which says that the recipient's values caused it. */
export function unfitValues({ field, message }: FieldFault): UnfitValues {
  return new UnfitValues(`${field}, with this person's values: ${message}`);
}

/** Sample values, to try a template and for test mails to unknown addresses. */
export const sampleValues: RecipientValues = {
  email: "ada@example.com",
  first_name: "Ada",
  last_name: "Lovelace",
  custom_fields: {},
  list_name: "News",
  campaign_name: "Campaign",
};
export const sampleLinks: MailLinks = {
  unsubscribe: "https://example.com/u",
  view: "https://example.com/v",
  pixel: "https://example.com/o.gif",
  tracked: (_index, target) => target,
};
