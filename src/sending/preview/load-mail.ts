/** What a request to render names: a campaign, a step of an autoresponder or neither, with edited fields on top. */
import { findMailingList } from "#audience/mailing-lists/store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { requirePermissions } from "#platform/http/authenticate.ts";
import { need, permissionOf } from "#platform/http/endpoint.ts";
import { newId } from "#platform/ids.ts";
import { autoresponders } from "#sending/autoresponders/autoresponder.ts";
import { mailOfStep } from "#sending/autoresponders/mail-of-step.ts";
import { findAutoresponder } from "#sending/autoresponders/store.ts";
import type { Campaign } from "#sending/campaigns/campaign.ts";
import { presentList } from "#sending/campaigns/lifecycle/read-campaign-body.ts";
import { findCampaign } from "#sending/campaigns/store.ts";
import { readCustomHeaders } from "#sending/content/read-custom-headers.ts";
import { draftToSend, type StoredMail } from "#sending/mail/mail-content.ts";
import { newMail } from "#sending/mail/new-mail.ts";
import type { CampaignToSend } from "#sending/mail/presend-store.ts";
import { fieldError, readBody, readMailAddress } from "#sending/mail-fields.ts";
import { readFromName } from "#workspace/read-from-name.ts";
import type { OrderedMail } from "./rendered-mail.ts";

/** The content of an autoresponder is not shown to a key for campaigns alone. */
const READ_AUTORESPONDERS = permissionOf(need(autoresponders, "read"));

/** A mail with what is needed to write it, and to choose its reader. */
export interface LoadedMail {
  readonly source: "campaign" | "autoresponder";
  readonly campaign: CampaignToSend;
  /** The campaign with its edits; null for other content. */
  readonly stored: Campaign | null;
  /** Null when nothing names an audience. */
  readonly audience: StoredMail | null;
  readonly listId: string | null;
  /** Without content. */
  readonly files: Campaign["attachments"];
}

/** @throws ApiError VALIDATION_ERROR, INSUFFICIENT_SCOPE for an autoresponder */
export async function loadMail(db: Queryable, caller: Caller, order: OrderedMail): Promise<LoadedMail> {
  const { workspaceId } = caller;
  const { campaign_id, autoresponder_id, step_id } = order;
  if (campaign_id != null && autoresponder_id != null) {
    throw fieldError("autoresponder_id", "and campaign_id exclude each other: give one");
  }
  if (campaign_id != null) {
    const campaign = await findCampaign(db, workspaceId, campaign_id, "attachments");
    if (campaign === undefined) throw fieldError("campaign_id", "is no campaign of this workspace");
    return loadCampaign(db, caller, campaign, order);
  }
  if (autoresponder_id == null) {
    if (step_id != null) throw fieldError("autoresponder_id", "is required with step_id");
    const mail = withEdits({ ...newMail, id: newId() }, order);
    return { source: "campaign", stored: null, ...(await withAudience(db, caller, mail, order)) };
  }
  requirePermissions(caller, [READ_AUTORESPONDERS]);
  const step = await findStep(db, caller, autoresponder_id, step_id ?? null);
  const mail = withEdits(step, order);
  return { source: "autoresponder", stored: null, ...(await withAudience(db, caller, mail, order)) };
}

/**
 * @param campaign without the content of its attachments
 * @throws ApiError VALIDATION_ERROR
 */
export async function loadCampaign(
  db: Queryable,
  caller: Caller,
  campaign: Campaign,
  order: OrderedMail = {},
): Promise<LoadedMail & { readonly stored: Campaign }> {
  const stored = withEdits(campaign, order);
  return { source: "campaign", stored, ...(await withAudience(db, caller, stored, order)) };
}

async function withAudience(
  db: Queryable,
  { workspaceId, timezone }: Caller,
  mail: StoredMail,
  order: OrderedMail,
): Promise<Pick<LoadedMail, "campaign" | "audience" | "listId" | "files">> {
  const named = await presentList(db, workspaceId, mail);
  const list = named === null ? undefined : await findMailingList(db, workspaceId, named);
  if (order.mailing_list_id != null && list === undefined) {
    throw fieldError("mailing_list_id", "is no mailing list of this workspace");
  }
  const hasAudience = list !== undefined || mail.segment_conditions !== null;
  return {
    campaign: draftToSend(mail, list, { workspaceId, timezone }),
    audience: hasAudience ? mail : null,
    listId: list?.id ?? null,
    files: mail.attachments,
  };
}

async function findStep(
  db: Queryable,
  { workspaceId }: Caller,
  autoresponderId: string,
  stepId: string | null,
): Promise<StoredMail> {
  const autoresponder = await findAutoresponder(db, workspaceId, autoresponderId);
  if (autoresponder === undefined) {
    throw fieldError("autoresponder_id", "is no autoresponder of this workspace");
  }
  return mailOfStep(db, workspaceId, autoresponder, stepId);
}

/** @throws ApiError VALIDATION_ERROR */
function withEdits<Mail extends StoredMail>(mail: Mail, order: OrderedMail): Mail {
  const { from_email, from_name, reply_to, custom_headers } = order;
  const given = <Name extends keyof OrderedMail & keyof StoredMail>(name: Name) =>
    order[name] === undefined ? mail[name] : order[name];
  const edited = {
    ...mail,
    subject: order.subject ?? mail.subject,
    html_content: readBody(given("html_content")),
    text_content: readBody(given("text_content")),
    from_email: readMailAddress("from_email", from_email) ?? mail.from_email,
    from_name: from_name === undefined ? mail.from_name : readFromName(from_name),
    reply_to: reply_to === undefined ? mail.reply_to : readMailAddress("reply_to", reply_to),
    phone_field_name: given("phone_field_name") ?? null,
    enable_open_tracking: given("enable_open_tracking") ?? null,
    enable_click_tracking: given("enable_click_tracking") ?? null,
    custom_headers: readBody(given("custom_headers")),
    use_custom_headers: custom_headers === undefined ? mail.use_custom_headers : custom_headers !== null,
    ...(order.mailing_list_id != null && {
      recipient_type: "mailing_list" as const,
      mailing_list_id: order.mailing_list_id,
    }),
  };
  if (edited.custom_headers !== null) readCustomHeaders(edited.custom_headers);
  return edited;
}
