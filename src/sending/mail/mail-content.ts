/** A campaign's mail to one recipient: its rendered content, and the headers by which people can leave. */

import type { EmailContent, SmsContent } from "#delivery/message/message.ts";
import { domainOf } from "#mail/address.ts";
import type { HeaderField } from "#mail/message/header.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { CompiledContent } from "#sending/content/compile.ts";
import { compileForWorkspace } from "#sending/content/compile-for-workspace.ts";
import { readCustomHeaders } from "#sending/content/custom-headers.ts";
import { type RecipientValues, renderContent, unfitValues, weaveContent } from "#sending/content/render.ts";
import type { CampaignToSend } from "./presend-store.ts";
import type { MailLinks } from "#tracking/link-tokens.ts";

/** What all mails of a campaign have in common, ready for the recipient. */
export interface PreparedCampaign {
  readonly campaign: CampaignToSend;
  readonly content: CompiledContent;
  /** Those that are the same for everybody. */
  readonly headers: readonly HeaderField[];
}

/**
 * Content that cannot be compiled any more, though it could when it was stored: templates know the time, and a newer
 * version of the program may be stricter.
 */
export class UncompilableContent extends Error {
  override readonly name = "ContentFault";
}

/** @throws ContentFault */
export async function prepareCampaign(db: Queryable, campaign: CampaignToSend): Promise<PreparedCampaign> {
  const place = { listId: campaign.audience_list_id, timezone: campaign.timezone };
  const compiled = await compileForWorkspace(db, campaign.workspace_id, campaign, place);
  if (!compiled.ok) throw new UncompilableContent(compiled.faults[0]?.message);
  return {
    campaign,
    content: compiled.content,
    headers: commonHeaders(campaign),
  };
}

/** Of a campaign that may be a draft still. */
export function commonHeaders(
  campaign: Pick<
    CampaignToSend,
    "workspace_id" | "audience_list_id" | "from_email" | "reply_to" | "use_custom_headers" | "custom_headers"
  >,
): HeaderField[] {
  const { reply_to, use_custom_headers, custom_headers, from_email } = campaign;
  const domain = domainOf(from_email);
  // RFC 2919: a name for ever, in a namespace that is the sender's own.
  const stream = campaign.audience_list_id ?? campaign.workspace_id;
  return [
    ...(reply_to === null ? [] : [["Reply-To", reply_to] as const]),
    ["List-Id", `<${stream}.lists.${domain}>`],
    ["Precedence", "bulk"],
    ...(use_custom_headers && custom_headers !== null ? readCustomHeaders(custom_headers) : []),
  ];
}

function byMail({ unsubscribeMail }: MailLinks): string[] {
  return unsubscribeMail === undefined ? [] : [`<mailto:${unsubscribeMail}?subject=unsubscribe>`];
}

/** @throws UnfitValues when these do not fit the templates: the message fails */
export function writeMail(
  { campaign, content, headers }: PreparedCampaign,
  values: RecipientValues,
  links: MailLinks,
  rest: Pick<EmailContent, "attachments" | "returnPathHost">,
): EmailContent {
  const mail = weaveContent(content, values, links);
  if (!mail.ok) throw unfitValues(mail.fault);
  return {
    fromName: campaign.from_name,
    toName: null,
    subject: mail.subject,
    html: mail.html,
    text: mail.text,
    headers: [
      // RFC 8058: one https address, which unsubscribes on POST alone.
      ["List-Unsubscribe", [`<${links.unsubscribe}>`, ...byMail(links)].join(", ")],
      ["List-Unsubscribe-Post", "List-Unsubscribe=One-Click"],
      ...headers,
    ],
    ...rest,
  };
}

/**
 * An SMS has no footer and no tracking.
 * @throws UnfitValues when these values do not fit the template: the message fails
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
