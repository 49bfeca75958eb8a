/**
 * Renders a mail as it would be sent: compiled, written and composed by the functions that send it. Two things differ from a
 * sent mail: links keep their targets, so that a reader of the preview does not meet links of a mail that does not exist, and
 * attachments whose content is not at hand are represented by as many octets. It runs in a thread (render-thread.ts), because
 * 2 MB of HTML take a second.
 */
import { createSecretKey, randomBytes } from "node:crypto";
import type { CountryCode } from "libphonenumber-js";
import { assemble, bothBodies, encodedAttachment, type Parts } from "#delivery/compose/assemble-mime.ts";
import { compose } from "#delivery/compose/compose-leased-message.ts";
import { domainOf } from "#mail/address.ts";
import { readHeaderSection } from "#mail/message/header-section.ts";
import { imagesById, replaceContentIds } from "#mail/message/replace-content-ids.ts";
import type { StoredAttachment } from "#messages/message/attachment.ts";
import { newId } from "#platform/ids.ts";
import { type ContentOptions, compileContent } from "#sending/content/compile.ts";
import type { ContentFault } from "#sending/content/parse-content.ts";
import {
  commonHeaders,
  type PreparedCampaign,
  tryMail,
  viewValues,
  withCarried,
  writeMail,
} from "#sending/mail/mail-content.ts";
import type { CampaignToSend } from "#sending/mail/presend-store.ts";
import { mailValues, type PersonalValues } from "#sending/mail/web-view-values.ts";
import { outgoingLinks, testLinks } from "#tracking/link-tokens.ts";
import { darkHtml } from "./dark-html.ts";
import { previewTextOf } from "./preview-text.ts";
import type { SmsSize } from "./rendered-mail.ts";

/** A file in the mail. Its content may be empty: then its size counts. */
export interface PreviewFile extends StoredAttachment {
  /** In bytes. */
  readonly size: number;
}

export interface MailToRender {
  readonly campaign: CampaignToSend;
  readonly source: "campaign" | "autoresponder";
  readonly options: ContentOptions;
  readonly person: PersonalValues;
  readonly files: readonly PreviewFile[];
  readonly now: Date;
  /** Without a trailing slash: of the service, and of tracked links. */
  readonly publicUrl: string;
  readonly linkBase: string;
  /** Null when the service receives no mail. */
  readonly bounceDomain: string | null;
  /** The country of telephone numbers without a country code. */
  readonly smsCountry: CountryCode | null;
  readonly signingKey: Parts["signingKey"];
  readonly returnPathHost: string;
}

export interface RenderedPreview {
  readonly ok: true;
  readonly subject: string;
  /** What mail programs show beside the subject. */
  readonly previewText: string;
  readonly html: string;
  readonly text: string;
  /** As in the mail: encoded words and addresses, unfolded. */
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  /** Octets of the whole mail with tracked links and signature, and of its HTML. */
  readonly sizeBytes: number;
  readonly htmlBytes: number;
  /** The whole mail. */
  readonly message: Uint8Array;
  readonly derived: { readonly html: boolean; readonly text: boolean; readonly unsubscribe_footer: boolean };
  /** Null for mail. */
  readonly sms: (SmsSize & { readonly to: string | null }) | null;
  readonly warnings: readonly ContentFault[];
  /** The HTML as pages with the mail's own images, in the light and in the dark theme. */
  readonly pages: { readonly light: string; readonly dark: string };
}

/** The faults name the field, line and column. */
export type RenderAnswer =
  | RenderedPreview
  | { readonly ok: false; readonly faults: readonly Pick<ContentFault, "field" | "message">[] };

/** Pictures in the page of a preview together; more are not shown there. */
const MOST_IMAGE_OCTETS = 5 * 1024 * 1024;

export async function renderMail(mail: MailToRender): Promise<RenderAnswer> {
  const { campaign, options, person, now } = mail;
  const compiled = compileContent(campaign, options);
  if (!compiled.ok) return compiled;
  const ready: PreparedCampaign = { campaign, content: compiled.content, headers: commonHeaders(campaign) };
  const values = mailValues(campaign, person, now);
  const rest = { attachments: mail.files.map(attachmentOf), returnPathHost: null };
  const written = tryMail(ready, values, testLinks(mail.publicUrl), rest);
  if (!written.ok) return { ok: false, faults: [written.fault] };
  const shown = written.content;
  const { html, text } = bothBodies(shown, true);
  const sent = await composeAsSent(ready, mail, rest);
  const page = withImages(String(html), mail.files);
  return {
    ok: true,
    subject: shown.subject,
    previewText: previewTextOf(String(html)),
    html: String(html),
    text: String(text),
    headers: sent.headers,
    sizeBytes: sent.octets,
    htmlBytes: sent.htmlOctets,
    message: sent.message,
    derived: {
      html: campaign.html_content === null,
      text: campaign.text_content === null,
      unsubscribe_footer: compiled.content.hasFooter,
    },
    sms: null,
    warnings: compiled.warnings,
    pages: { light: page, dark: darkHtml(page) },
  };
}

/** The mail with tracked links and its signature. Keys of links are made up, so that the links are of no use. */
async function composeAsSent(
  ready: PreparedCampaign,
  { campaign, person, source, now, linkBase, bounceDomain, signingKey, returnPathHost }: MailToRender,
  rest: Parameters<typeof writeMail>[3],
) {
  const key = createSecretKey(randomBytes(32));
  const messageId = newId();
  const values = mailValues(campaign, person, now);
  const plain = outgoingLinks({ workspaceId: campaign.workspace_id, messageId }, linkBase, key, bounceDomain);
  const links = withCarried(plain, viewValues(ready, values, person.email).carried);
  const content = writeMail(ready, values, links, rest);
  const at = person.email.lastIndexOf("@");
  const message = {
    workspace_id: campaign.workspace_id,
    message_id: messageId,
    source,
    origin_id: campaign.id,
    from_email: campaign.from_email,
    from_name: campaign.from_name,
    to_name: null,
    localpart: person.email.slice(0, at),
    domain: domainOf(person.email),
    subject: content.subject,
    created_at: now,
    first_attempt_at: now,
    has_content: false,
    particulars: null,
    content: () => content,
  };
  const nothing = { html: null, text: null, attachments: null, raw: null };
  const options = {
    returnPathKey: key,
    complaintAddress: bounceDomain === null ? null : `fbl@${bounceDomain}`,
  };
  const composed = await compose(message, nothing, { signingKey, returnPathHost }, options, assemble);
  const octets = Buffer.from(composed.message);
  const section = readHeaderSection(octets);
  const fields = section.ok ? section.fields : [];
  return {
    message: octets,
    octets: octets.length,
    htmlOctets: Buffer.byteLength(String(bothBodies(content, true).html)),
    // A signature is of no use to the reader, and must not leave the service on a mail that was not sent.
    headers: fields
      .filter(({ name }) => name.toLowerCase() !== "dkim-signature")
      .map(({ name, value }) => ({ name, value: value.replaceAll(/\r\n(?=[ \t])/g, "").trim() })),
  };
}

function attachmentOf({ size, ...file }: PreviewFile) {
  const content = file.content === "" ? Buffer.alloc(size).toString("base64") : file.content;
  return encodedAttachment({ ...file, content });
}

/** Puts the mail's own pictures into the HTML, which a page has no other way to show. */
function withImages(html: string, files: readonly PreviewFile[]): string {
  let left = MOST_IMAGE_OCTETS;
  const images = imagesById(
    files.filter(({ content }) => content !== ""),
    ({ content_type, content, size }) => {
      left -= size;
      return left < 0 ? undefined : `data:${content_type};base64,${content}`;
    },
  );
  return replaceContentIds(html, (id) => images.get(id));
}
