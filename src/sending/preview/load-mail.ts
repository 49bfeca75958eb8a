/** What a request to render names: a campaign, a step of an autoresponder, a template or none, with edited fields on top. */
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
import { mergeValuesOf, readTestData } from "#sending/templates/merge-data.ts";
import { findTemplate } from "#sending/templates/store.ts";
import { type ContentDeps, READ_TEMPLATES, takeShownContent } from "#sending/templates/take-content.ts";
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
  /** Whether a body without an unsubscribe link gets one: not where a template is shown as it is. */
  readonly addsFooter: boolean;
  /** Values of merge tags beside those of the person. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** @throws ApiError VALIDATION_ERROR, INSUFFICIENT_SCOPE for an autoresponder or a template, and those of takeShownContent */
export async function loadMail(deps: ContentDeps, caller: Caller, given: OrderedMail): Promise<LoadedMail> {
  const { db } = deps;
  const { workspaceId } = caller;
  const { campaign_id, autoresponder_id, step_id } = given;
  if (campaign_id != null && autoresponder_id != null) {
    throw fieldError("autoresponder_id", "and campaign_id exclude each other: give one");
  }
  if (campaign_id != null) {
    const campaign = await findCampaign(db, workspaceId, campaign_id, "attachments");
    if (campaign === undefined) throw fieldError("campaign_id", "is no campaign of this workspace");
    return loadCampaign(db, caller, campaign, await takeShownContent(deps, caller, given));
  }
  if (autoresponder_id == null) {
    if (step_id != null) throw fieldError("autoresponder_id", "is required with step_id");
    return loadContent(deps, caller, given);
  }
  requirePermissions(caller, [READ_AUTORESPONDERS]);
  const step = await findStep(db, caller, autoresponder_id, step_id ?? null);
  const order = await takeShownContent(deps, caller, given);
  const mail = withEdits(step, order);
  return { ...loadedParts(order), source: "autoresponder", ...(await withAudience(db, caller, mail, order)) };
}

/** Content that no campaign and no step has, such as a template. */
async function loadContent(deps: ContentDeps, caller: Caller, given: OrderedMail): Promise<LoadedMail> {
  if (given.template_id != null) requirePermissions(caller, [READ_TEMPLATES]);
  const order = await takeShownContent(deps, caller, given);
  const template =
    given.template_id == null
      ? undefined
      : await findTemplate(deps.db, caller.workspaceId, given.template_id, "content");
  const parts = loadedParts({ test_data: given.test_data ?? template?.test_data ?? null });
  const { campaign_name: name = "", list_name } = mergeValuesOf(parts.data);
  const mail = withEdits({ ...newMail, id: newId(), name }, order);
  const loaded = await withAudience(deps.db, caller, mail, order);
  const { campaign } = loaded;
  return {
    ...parts,
    ...loaded,
    campaign: { ...campaign, mailing_list_name: list_name ?? campaign.mailing_list_name },
    addsFooter: given.template_id == null && given.test_data == null,
  };
}

function loadedParts({ test_data }: Pick<OrderedMail, "test_data">) {
  const data = readTestData(test_data ?? {});
  return { source: "campaign", stored: null, addsFooter: true, data } as const;
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
  return { ...loadedParts(order), stored, ...(await withAudience(db, caller, stored, order)) };
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
