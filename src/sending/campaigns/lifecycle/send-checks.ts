/**
 * The checks when a campaign is sent. What was valid when the draft was stored may not be any more: its list may be deleted,
 * its domain may have lost its verification.
 */

import type { CountryCode } from "libphonenumber-js";
import { findMailingList, lockListsForUse } from "#audience/mailing-lists/store.ts";
import { lockSenderRights, maySendAs } from "#identity/may-send-as.ts";
import { lockRouting } from "#identity/sending-ips/store.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { ApiError, type FieldFault, invalid } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { hasReachableBySms } from "#sending/campaigns/audience/check-phone-field.ts";
import { findPausedAudience } from "#sending/campaigns/audience/expansion-store.ts";
import { type CampaignAudience, findAudience, lookAt } from "#sending/campaigns/audience/find-audience.ts";
import { hasReachable } from "#sending/campaigns/audience/recipients-store.ts";
import type { Campaign } from "#sending/campaigns/campaign.ts";
import { listListsOfCampaign } from "#sending/campaigns/in-use-store.ts";
import { requireCompiled } from "#sending/content/compile-for-workspace.ts";
import { trackingWarnings, tracksOf } from "#sending/content/resolve-tracking-setting.ts";
import {
  type CampaignReader,
  requireReturnPath,
  requireRoute,
  requireTrackingDomain,
} from "./read-campaign-body.ts";

/** The time limit for finding one recipient, because conditions may be costly. */
const MOST_LOOK_MS = 5_000;
/** People who are checked for it, about a second of work. If none of them is a recipient, expansion checks the rest. */
const MOST_LOOKS = 50_000;

export interface SendChecks {
  readonly db: Database;
  /** Whether an SMS gateway is configured. */
  readonly hasSmsGateway: boolean;
  /** The country of telephone numbers without a country code. */
  readonly smsCountry: CountryCode | null;
  /** Throws if plan and balance do not cover one more email. A campaign that is sending is paused instead (expand.ts). */
  readonly requireAllowance: (workspaceId: WorkspaceId) => Promise<void>;
}

/**
 * @returns warnings about the content
 * @throws ApiError VALIDATION_ERROR, BAD_REQUEST without recipients, EMAIL_NOT_VERIFIED, PLAN_LIMIT_REACHED or
 * INSUFFICIENT_BALANCE, RATE_LIMIT_EXCEEDED
 */
export async function checkSendable(
  checks: SendChecks & Pick<CampaignReader, "hasTrackingDomain">,
  { workspaceId, timezone }: Pick<Caller, "workspaceId" | "timezone">,
  campaign: Campaign,
  now: Date,
): Promise<Campaign["warnings"]> {
  const { db, hasSmsGateway, smsCountry, requireAllowance } = checks;
  requireGateway(campaign, hasSmsGateway);
  if (campaign.message_type === "sms" && campaign.text_content === null) {
    throw invalid({ field: "text_content", message: "text_content is required to send an sms" });
  }
  if (campaign.html_content === null && campaign.text_content === null) {
    throw invalid({ field: "html_content", message: "html_content or text_content is required to send" });
  }
  const audience = await requireUsed(checks, db, workspaceId, campaign, now);
  const list = audience.list && (await findMailingList(db, workspaceId, audience.list.id));
  const { warnings } = await requireCompiled(
    db,
    workspaceId,
    { ...campaign, ...tracksOf(campaign, list ?? undefined) },
    { listId: list?.id ?? null, timezone },
  );
  const { people, terms } = audience;
  const phone = { fieldName: campaign.phone_field_name ?? "", country: smsCountry, most: MOST_LOOKS };
  const look = (tx: Queryable) =>
    campaign.message_type === "sms"
      ? hasReachableBySms(tx, workspaceId, audience, phone)
      : hasReachable(tx, workspaceId, people, { ...terms, most: MOST_LOOKS });
  if (!(await lookAt(db, workspaceId, campaign, MOST_LOOK_MS, look))) {
    throw new ApiError(
      "BAD_REQUEST",
      "The campaign has no recipients: everyone in its audience is inactive or suppressed",
    );
  }
  await requireSender(db, workspaceId, campaign.from_email);
  const { bounce_email } = campaign;
  if (bounce_email !== null) await requireSender(db, workspaceId, bounce_email, "bounce_email");
  // SMS take nothing from the allowance for emails.
  if (campaign.message_type !== "sms") await requireAllowance(workspaceId);
  return [...warnings, ...trackingWarnings(campaign)];
}

/** Finds the audience. @throws ApiError VALIDATION_ERROR if something that the campaign refers to was deleted */
async function requireUsed(
  reader: Pick<CampaignReader, "hasTrackingDomain">,
  db: Queryable,
  workspaceId: WorkspaceId,
  campaign: Campaign,
  now: Date,
): Promise<CampaignAudience> {
  await requireTrackingDomain(db, workspaceId, campaign, reader);
  await requireRoute(db, workspaceId, campaign);
  await requireReturnPath(db, workspaceId, campaign.sender_email);
  const audience = await findAudience(db, workspaceId, campaign, now);
  const { mailing_list_id: id } = campaign;
  if (audience !== undefined) {
    requireSameList(id, audience);
    return audience;
  }
  throw invalid(missingAudience(campaign, id !== null && !!(await findMailingList(db, workspaceId, id))));
}

/**
 * Checks again, in the transaction that sends the campaign, and locks what it uses against deletion. After the commit it
 * cannot be deleted while the campaign is scheduled, sending or paused.
 * @throws ApiError VALIDATION_ERROR, EMAIL_NOT_VERIFIED, CONFLICT while its list is being deleted
 */
export async function lockUsed(
  reader: Pick<CampaignReader, "hasTrackingDomain">,
  tx: Queryable,
  workspaceId: WorkspaceId,
  campaign: Campaign,
  now: Date,
): Promise<void> {
  const { id, from_email, sender_email, virtual_mta_ip, routing_rule_id } = campaign;
  await lockCampaignLists(tx, workspaceId, id);
  if (virtual_mta_ip !== null || routing_rule_id !== null) await lockRouting(tx, workspaceId);
  await lockSenderRights(tx, workspaceId, [from_email, ...(sender_email === null ? [] : [sender_email])]);
  await requireUsed(reader, tx, workspaceId, campaign, now);
  await requireSender(tx, workspaceId, from_email);
}

/**
 * Locks only the campaign's lists, for a resume. If its sender is no longer verified, the campaign is paused again.
 * @throws ApiError CONFLICT
 */
export async function lockCampaignLists(tx: Queryable, workspaceId: WorkspaceId, id: string): Promise<void> {
  await lockListsForUse(tx, workspaceId, await listListsOfCampaign(tx, workspaceId, id));
}

/**
 * Checks that a paused campaign can be resumed: its whole audience while the expansion is incomplete, otherwise only its
 * list, without which the waiting messages would end as suppressed.
 * @throws ApiError CONFLICT
 */
export async function requireAudienceLeft(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  now: Date,
): Promise<void> {
  const paused = await findPausedAudience(tx, workspaceId, id);
  if (paused === undefined) return;
  const { is_expanded, audience_list_id: listId, ...audience } = paused;
  const isThere =
    (is_expanded || (await findAudience(tx, workspaceId, audience, now)) !== undefined) &&
    (listId === null || (await findMailingList(tx, workspaceId, listId)) !== undefined);
  if (isThere) return;
  const missing = "its mailing list or segment, or one that its conditions refer to, was deleted";
  throw new ApiError(
    "CONFLICT",
    `The campaign cannot be resumed (audience_missing): ${missing}. Cancel it, or duplicate it and give the copy another audience.`,
  );
}

/** @throws ApiError EMAIL_NOT_VERIFIED */
export async function requireSender(
  db: Queryable,
  workspaceId: WorkspaceId,
  address: string,
  field: "from_email" | "bounce_email" = "from_email",
): Promise<void> {
  if ((await maySendAs(db, workspaceId, address)).allowed) return;
  throw new ApiError("EMAIL_NOT_VERIFIED", `${field} ${address} is no longer verified`);
}

/** @throws ApiError BAD_REQUEST for an sms without a configured gateway, VALIDATION_ERROR for one without phone_field_name */
export function requireGateway(
  { message_type, phone_field_name }: Pick<Campaign, "message_type" | "phone_field_name">,
  hasSmsGateway: boolean,
): void {
  if (message_type !== "sms") return;
  if (!hasSmsGateway) throw new ApiError("BAD_REQUEST", "No SMS gateway is configured");
  if (phone_field_name === null) {
    throw invalid({ field: "phone_field_name", message: "phone_field_name is required for an sms" });
  }
}

/** A segment belongs to one list. Another list beside it is refused, because the caller would not get what they expect. */
function requireSameList(id: string | null, { list, segmentName }: CampaignAudience): void {
  if (id === null || list === null || id === list.id) return;
  const advice = `omit it, or give ${list.id}`;
  const message = `mailing_list_id is not ${list.name}, the list of the segment ${segmentName}: ${advice}`;
  throw invalid({ field: "mailing_list_id", message });
}

function missingAudience({ recipient_type, mailing_list_id }: Campaign, hasList: boolean): FieldFault {
  if (recipient_type === "custom" && (mailing_list_id === null || hasList)) {
    const message = "segment_conditions name a segment or a mailing list that was deleted";
    return { field: "segment_conditions", message };
  }
  if (recipient_type === "segment") {
    return { field: "segment_id", message: "segment_id is no segment of this workspace" };
  }
  const problem = mailing_list_id === null ? "is required to send" : "is no mailing list of this workspace";
  return { field: "mailing_list_id", message: `mailing_list_id ${problem}` };
}
