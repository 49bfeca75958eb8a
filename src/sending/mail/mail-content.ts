/** The content of a campaign's message to one recipient, email or SMS: rendered parts and header fields. */

import type { MailingList } from "#audience/mailing-lists/mailing-list.ts";
import type { EmailContent, SmsContent } from "#delivery/message/message.ts";
import { domainOf } from "#mail/address.ts";
import type { HeaderField } from "#mail/message/encode-header.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { FieldFault } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Campaign } from "#sending/campaigns/campaign.ts";
import type { CompiledContent } from "#sending/content/compile.ts";
import { compileForWorkspace } from "#sending/content/compile-for-workspace.ts";
import { readCustomHeaders } from "#sending/content/read-custom-headers.ts";
import { type RecipientValues, renderContent, unfitValues, weaveContent } from "#sending/content/render.ts";
import { tracksOf } from "#sending/content/resolve-tracking-setting.ts";
import { fitsView, type MailLinks, type OutgoingLinks } from "#tracking/link-tokens.ts";
import type { CampaignToSend } from "./presend-store.ts";
import { shownValues } from "./web-view-values.ts";

/** A campaign with its compiled content. */
export interface PreparedCampaign {
  readonly campaign: CampaignToSend;
  readonly content: CompiledContent;
  /** The header fields that are the same for all recipients. */
  readonly headers: readonly HeaderField[];
}

/**
 * Thrown for content that could be compiled when it was stored and no longer can: templates may use the time, and a newer
 * version of the service may be stricter.
 */
export class UncompilableContent extends Error {
  override readonly name = "ContentFault";
}

/** @throws ContentFault */
export async function prepareCampaign(db: Queryable, campaign: CampaignToSend): Promise<PreparedCampaign> {
  const options = { listId: campaign.audience_list_id, timezone: campaign.timezone };
  const compiled = await compileForWorkspace(db, campaign.workspace_id, campaign, options);
  if (!compiled.ok) throw new UncompilableContent(compiled.faults[0]?.message);
  return {
    campaign,
    content: compiled.content,
    headers: commonHeaders(campaign),
  };
}

/** Reply-To, List-Id, Precedence and the custom headers. Also used for a draft. */
export function commonHeaders(
  campaign: Pick<
    CampaignToSend,
    "workspace_id" | "audience_list_id" | "from_email" | "reply_to" | "use_custom_headers" | "custom_headers"
  >,
): HeaderField[] {
  const { reply_to, use_custom_headers, custom_headers, from_email } = campaign;
  const domain = domainOf(from_email);
  // RFC 2919: a List-Id is permanent, and in a namespace that the sender owns.
  const stream = campaign.audience_list_id ?? campaign.workspace_id;
  return [
    ...(reply_to === null ? [] : [["Reply-To", reply_to] as const]),
    ["List-Id", `<${stream}.lists.${domain}>`],
    ["Precedence", "bulk"],
    ...(use_custom_headers && custom_headers !== null ? readCustomHeaders(custom_headers) : []),
  ];
}

/** A mail as it is stored, or as new content begins. */
export type StoredMail = Pick<
  Campaign,
  | "id"
  | "name"
  | "message_type"
  | "phone_field_name"
  | "subject"
  | "html_content"
  | "text_content"
  | "from_email"
  | "from_name"
  | "reply_to"
  | "enable_open_tracking"
  | "enable_click_tracking"
  | "use_custom_headers"
  | "custom_headers"
  | "url_domain_id"
  | "sender_email"
  | "recipient_type"
  | "mailing_list_id"
  | "segment_id"
  | "segment_conditions"
  | "attachments"
>;

/** A draft in the form of a campaign that is sent: what its list decides is filled in, as when sending begins. */
export function draftToSend(
  mail: StoredMail,
  list: MailingList | undefined,
  { workspaceId, timezone }: { readonly workspaceId: WorkspaceId; readonly timezone: string },
): CampaignToSend {
  return {
    ...mail,
    workspace_id: workspaceId,
    from_name: mail.from_name ?? list?.from_name ?? null,
    reply_to: mail.reply_to ?? list?.reply_to_email ?? null,
    mailing_list_name: list?.name ?? null,
    audience_list_id: list?.id ?? null,
    ...tracksOf(mail, list),
    timezone,
    has_attachments: mail.attachments.length > 0,
  };
}

/**
 * The values that the web view of a mail needs, as JSON, and whether its link carries them; both null if it needs none.
 * @param address the recipient's
 */
export function viewValues(
  { campaign, content }: PreparedCampaign,
  values: RecipientValues,
  address: string,
): { readonly shown: string | null; readonly carried: string | null } {
  const shown = shownValues(content.facts, values, { address, timezone: campaign.timezone });
  // In an SMS every character of a link costs, so its values are always kept in the log.
  const isCarried = shown !== null && campaign.message_type !== "sms" && fitsView(shown);
  return { shown, carried: isCarried ? shown : null };
}

/** The links of a mail whose web view gets these values from its address. */
export function withCarried(links: OutgoingLinks, carried: string | null): MailLinks {
  return carried === null ? links : { ...links, view: links.viewWith(carried) };
}

function byMail({ unsubscribeMail }: MailLinks): string[] {
  return unsubscribeMail === undefined ? [] : [`<mailto:${unsubscribeMail}?subject=unsubscribe>`];
}

/** @throws UnfitValues when the values do not fit the templates: the message fails */
export function writeMail(...mail: Parameters<typeof tryMail>): EmailContent {
  const written = tryMail(...mail);
  if (!written.ok) throw unfitValues(written.fault);
  return written.content;
}

/** The mail of one person: every mail of a campaign or step, and every test and preview of one, is written here. */
export function tryMail(
  { campaign, content, headers }: PreparedCampaign,
  values: RecipientValues,
  links: MailLinks,
  rest: Pick<EmailContent, "attachments" | "returnPathHost">,
):
  | { readonly ok: true; readonly content: EmailContent }
  | { readonly ok: false; readonly fault: FieldFault } {
  const mail = weaveContent(content, values, links);
  if (!mail.ok) return mail;
  const written: EmailContent = {
    fromName: campaign.from_name,
    toName: null,
    subject: mail.subject,
    html: mail.html,
    text: mail.text,
    headers: [
      // RFC 8058: one https URI, which unsubscribes only on POST.
      ["List-Unsubscribe", [`<${links.unsubscribe}>`, ...byMail(links)].join(", ")],
      ["List-Unsubscribe-Post", "List-Unsubscribe=One-Click"],
      ...headers,
    ],
    ...rest,
  };
  return { ok: true, content: written };
}

/**
 * An SMS has no footer and no tracking.
 * @throws UnfitValues when the values do not fit the template: the message fails
 */
export function writeSms(
  { content }: PreparedCampaign,
  to: string,
  values: RecipientValues,
  links: MailLinks,
): SmsContent {
  const rendered = renderContent(content, values, links);
  if (!rendered.ok) throw unfitValues(rendered.fault);
  return { to, text: (rendered.text ?? "").trim() };
}
