/** Writes the mail of a campaign or an autoresponder to one recipient again, as its pre-send check wrote it. */
import { encodedAttachment } from "#delivery/compose/assemble-mime.ts";
import type { EmailContent } from "#delivery/message/message.ts";
import { ownReturnPathHost } from "#identity/return-path-host.ts";
import { domainOf } from "#mail/address.ts";
import type { BulkOrigin } from "#sending/bulk-origin-tables-store.ts";
import { type MailOrigin, mailTo } from "#sending/mail/check-recipients.ts";
import type { CampaignMailDeps } from "#sending/mail/deps.ts";
import { prepareCampaign } from "#sending/mail/mail-content.ts";
import { type CampaignToSend, findAttachments } from "#sending/mail/presend-store.ts";
import type { SentMails } from "#sending/mail/web-view.ts";
import { readShown } from "#sending/mail/web-view-values.ts";
import type { KeptMessage } from "./store.ts";

export type BulkMails = Readonly<Record<BulkOrigin, SentMails>>;

/**
 * Resolves to null when the campaign's content no longer exists. The returned function throws UnfitValues.
 * @throws UncompilableContent
 */
export async function writeBulkMailAgain(
  deps: CampaignMailDeps,
  { findSentMail, findContent }: SentMails,
  kept: KeptMessage,
): Promise<(() => EmailContent) | null> {
  const { db } = deps;
  const { workspace_id: workspaceId, message_id: messageId } = kept;
  const sent = await findSentMail(db, workspaceId, messageId);
  const campaign = sent && (await findContent(db, workspaceId, sent.campaign_id));
  if (campaign === undefined || sent === undefined) return null;
  const person =
    sent.shown === null
      ? {
          email: sent.email ?? sent.address,
          first_name: sent.first_name,
          last_name: sent.last_name,
          custom_fields: sent.custom_fields ?? {},
        }
      : readShown(sent.shown, sent.address).values;
  const attachments = campaign.has_attachments
    ? (await findAttachments(db, workspaceId, campaign.id)).map(encodedAttachment)
    : [];
  const context = {
    ready: await prepareCampaign(db, { ...campaign, from_email: kept.from_email }),
    mailOrigin: await mailOriginOf(deps, campaign),
    attachments,
  };
  const decision = mailTo(person, { message: kept, context }, deps, []);
  return decision.kind === "email" ? decision.content : null;
}

async function mailOriginOf(
  { db, linkBase }: CampaignMailDeps,
  { workspace_id: workspaceId, url_domain_id, sender_email }: CampaignToSend,
): Promise<MailOrigin> {
  return {
    base: await linkBase(workspaceId, url_domain_id),
    returnPathHost:
      sender_email === null ? null : await ownReturnPathHost(db, workspaceId, domainOf(sender_email)),
  };
}
