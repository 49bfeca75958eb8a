/** A campaign's mail for one recipient. This happens to every message: it takes microseconds, and never throws. */
import { UnfitValues } from "#delivery/message/presend-check.ts";
import type { Render } from "#mail/merge-tags/compile.ts";
import { LONGEST_SUBJECT } from "#mail/message/header.ts";
import type { MailText } from "#mail/message/template-text.ts";
import type { FieldFault } from "#platform/errors.ts";
import type { MailLinks } from "#tracking/link-tokens.ts";
import type { fieldsVariable, VariableName } from "./variables.ts";

/** The compiled templates of a mail. */
export interface RenderableContent {
  readonly subject: Render;
  /** Null where only a text was given: the mail's HTML is made of it, as that of every mail. */
  readonly html: Render | null;
  /** Null where no text could be made of the HTML's template: it is made of the mail's HTML. */
  readonly text: Render | null;
}

/** What merge tags show. What the facts of the content do not ask for may be null or empty. */
export interface RecipientValues {
  readonly email: string;
  readonly first_name: string | null;
  readonly last_name: string | null;
  /** By field_name, as they are stored. */
  readonly custom_fields: Readonly<Record<string, unknown>>;
  readonly list_name: string | null;
  readonly campaign_name: string;
  /** What `now` means in templates; the present when omitted. */
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

/** Renders all parts, or says which of them these values do not fit. */
export function renderContent(
  content: RenderableContent,
  recipient: RecipientValues,
  links: MailLinks,
): RenderedContent {
  const mail = weaveContent(content, recipient, links);
  if (!mail.ok) return mail;
  return { ...mail, html: mail.html && String(mail.html), text: mail.text && String(mail.text) };
}

/** The same as composing takes it, which shares what the mails of a campaign have in common. */
export function weaveContent(
  content: RenderableContent,
  recipient: RecipientValues,
  links: MailLinks,
): RenderedContent<MailText> {
  const variables: Record<VariableName | typeof fieldsVariable, unknown> = {
    email: recipient.email,
    first_name: recipient.first_name,
    last_name: recipient.last_name,
    list_name: recipient.list_name,
    campaign_name: recipient.campaign_name,
    unsubscribe_url: links.unsubscribe,
    view_in_browser_url: links.view,
    custom_fields: recipient.custom_fields,
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

/** The same fault as the log of a message has it, whose reader knows nothing of the campaign. */
export function unfitValues({ field, message }: FieldFault): UnfitValues {
  return new UnfitValues(`${field}, with this person's values: ${message}`);
}

/** Somebody to try a template with. */
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
