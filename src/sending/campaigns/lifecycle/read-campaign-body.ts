/**
 * Reads the body of POST and PUT into the settings of a campaign. An omitted field has its default. Everything that can be
 * known before sending is checked here, except that the mailing list exists, which is checked when the campaign is sent.
 */

import { checkConditions } from "#audience/segments/conditions/check-conditions.ts";
import { findSegment } from "#audience/segments/store.ts";
import { ownReturnPathHost } from "#identity/return-path-host.ts";
import { type RouteFields, readRouteFields } from "#identity/routing-rules/load-routing.ts";
import { domainOf } from "#mail/address.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { ApiError, invalid } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { readPhoneField } from "#sending/campaigns/audience/check-phone-field.ts";
import { estimateAudience } from "#sending/campaigns/audience/find-audience.ts";
import { lockAudience } from "#sending/campaigns/audience/lock-audience.ts";
import type { Campaign, CampaignSettings, NewCampaign } from "#sending/campaigns/campaign.ts";
import { readScheduledAt } from "#sending/campaigns/scheduled-at.ts";
import { contentWarnings } from "#sending/content/compile-for-workspace.ts";
import { readCustomHeaders } from "#sending/content/read-custom-headers.ts";
import { readAttachments } from "#sending/emails/read-attachments.ts";
import {
  fieldError,
  readBody,
  readBounceEmail,
  readFromEmail,
  readMailAddress,
  readSubject,
} from "#sending/mail-fields.ts";
import { readName } from "#workspace/read-display-name.ts";
import { readFromName } from "#workspace/read-from-name.ts";

export interface CampaignReader {
  readonly db: Database;
  /** Whether the workspace has this tracking domain. Inside a transaction it also locks the domain against deletion. */
  readonly hasTrackingDomain: (db: Queryable, workspaceId: WorkspaceId, id: string) => Promise<boolean>;
}

/** @throws ApiError VALIDATION_ERROR naming the field */
export async function readCampaign(
  reader: CampaignReader,
  { workspaceId, timezone }: Pick<Caller, "workspaceId" | "timezone">,
  body: NewCampaign,
  now: Date,
): Promise<CampaignSettings> {
  const { db } = reader;
  const { audience, listId } = await readAudience(db, workspaceId, body, now);
  const settings = {
    name: readName(body.name),
    subject: readSubject(body.subject),
    from_email: await readFromEmail(db, workspaceId, body.from_email),
    from_name: readFromName(body.from_name),
    reply_to: readMailAddress("reply_to", body.reply_to),
    message_type: body.message_type ?? "email",
    phone_field_name: await readPhoneField(db, workspaceId, listId, body),
    ...audience,
    html_content: readBody(body.html_content),
    text_content: readBody(body.text_content),
    enable_open_tracking: body.enable_open_tracking ?? null,
    enable_click_tracking: body.enable_click_tracking ?? null,
    use_custom_headers: body.use_custom_headers ?? false,
    custom_headers: readBody(body.custom_headers),
    bounce_email: await readBounceEmail(db, workspaceId, body.bounce_email),
    scheduled_at:
      body.scheduled_at == null || body.scheduled_at.trim() === ""
        ? null
        : readScheduledAt(body.scheduled_at, timezone),
    attachments: readAttachments(body.attachments ?? []),
  };
  if (settings.custom_headers !== null) readCustomHeaders(settings.custom_headers);
  return {
    ...settings,
    ...(await readRouting(reader, workspaceId, body)),
    warnings: await contentWarnings(db, workspaceId, settings, listId),
    total_recipients: await estimateAudience(db, workspaceId, audience, now),
  };
}

/**
 * Checks the audience again, in the transaction that stores the campaign, and locks its segments and custom fields against
 * deletion. After the commit they cannot be deleted while the campaign is not complete.
 * @throws ApiError VALIDATION_ERROR if one of them was deleted since readCampaign
 */
export async function requireAudience(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { body, settings }: { readonly body: NewCampaign; readonly settings: CampaignSettings },
  now: Date,
): Promise<void> {
  if (await lockAudience(tx, workspaceId, settings)) await readAudience(tx, workspaceId, body, now);
}

type AudienceSettings = Pick<
  CampaignSettings,
  "recipient_type" | "mailing_list_id" | "segment_id" | "segment_conditions"
>;

/**
 * If recipient_type is omitted, it follows from the given fields: first a segment, then conditions, then a list.
 * @returns `listId`: the list whose members the recipients are; null for conditions over the whole workspace
 */
async function readAudience(
  db: Queryable,
  workspaceId: WorkspaceId,
  body: NewCampaign,
  now: Date,
): Promise<{ readonly audience: AudienceSettings; readonly listId: string | null }> {
  const { mailing_list_id = null, segment_id = null, segment_conditions = null } = body;
  const detected = segment_id !== null ? "segment" : segment_conditions !== null ? "custom" : "mailing_list";
  const recipient_type = body.recipient_type ?? detected;
  if (recipient_type === "segment" && segment_id === null)
    throw fieldError("segment_id", "is required for a segment");
  if (recipient_type === "custom" && segment_conditions === null) {
    throw fieldError("segment_conditions", "is required for custom recipients");
  }
  const segment = segment_id === null ? null : await findSegment(db, workspaceId, undefined, segment_id);
  if (segment === undefined) throw fieldError("segment_id", "is no segment of this workspace");
  const isOfSegment = recipient_type === "segment" && segment !== null;
  const conditions =
    segment_conditions && (await readConditions(db, workspaceId, mailing_list_id, segment_conditions, now));
  return {
    audience: { recipient_type, mailing_list_id, segment_id, segment_conditions: conditions },
    listId: isOfSegment ? segment.mailing_list_id : mailing_list_id,
  };
}

/** Without a list, custom fields are compared as text. */
async function readConditions(
  db: Queryable,
  workspaceId: WorkspaceId,
  listId: string | null,
  given: object,
  now: Date,
): Promise<Record<string, unknown>> {
  try {
    const { conditions } = await checkConditions(db, workspaceId, listId ?? newId(), given, now);
    return { ...conditions };
  } catch (fault) {
    if (!(fault instanceof ApiError) || fault.details === undefined) throw fault;
    const [first, ...rest] = fault.details.map(({ field, message }) => ({
      field: `segment_${field}`,
      message: `segment_${message}`,
    }));
    throw first === undefined ? fault : invalid(first, ...rest);
  }
}

/** Reads the overrides of tracking domain, route and envelope sender. What they refer to must exist. */
async function readRouting(
  reader: CampaignReader,
  workspaceId: WorkspaceId,
  body: NewCampaign,
): Promise<Pick<CampaignSettings, "url_domain_id" | "virtual_mta_ip" | "routing_rule_id" | "sender_email">> {
  const { db } = reader;
  const { url_domain_id = null } = body;
  await requireTrackingDomain(db, workspaceId, { url_domain_id }, reader);
  const { virtualMtaIp: virtual_mta_ip, routingRuleId: routing_rule_id } = await requireRoute(
    db,
    workspaceId,
    body,
  );
  const sender_email = readMailAddress("sender_email", body.sender_email);
  await requireReturnPath(db, workspaceId, sender_email);
  return { url_domain_id, virtual_mta_ip, routing_rule_id, sender_email };
}

/** @throws ApiError VALIDATION_ERROR if a tracking domain is given that the workspace does not have */
export async function requireTrackingDomain(
  db: Queryable,
  workspaceId: WorkspaceId,
  { url_domain_id: id }: Pick<Campaign, "url_domain_id">,
  { hasTrackingDomain }: Pick<CampaignReader, "hasTrackingDomain">,
): Promise<void> {
  if (id === null || (await hasTrackingDomain(db, workspaceId, id))) return;
  throw fieldError("url_domain_id", "is no tracking domain of this workspace");
}

/** @throws ApiError VALIDATION_ERROR if a sending IP or routing rule is given that the workspace does not have */
export async function requireRoute(
  db: Queryable,
  workspaceId: WorkspaceId,
  given: Parameters<typeof readRouteFields>[2],
): Promise<RouteFields> {
  const fields = await readRouteFields(db, workspaceId, given);
  if (!("unknown" in fields)) return fields;
  const isRule = fields.unknown === "routing_rule_id" || given.virtual_mta_ip?.startsWith("routing_rule:");
  throw fieldError(fields.unknown, `is no ${isRule ? "routing rule" : "sending IP"} of this workspace`);
}

/**
 * The return path host of the sender's domain, to which bounces are sent; null without a `sender_email`.
 * @throws ApiError VALIDATION_ERROR if the domain has no verified custom return path
 */
export async function requireReturnPath(
  db: Queryable,
  workspaceId: WorkspaceId,
  email: string | null,
): Promise<string | null> {
  if (email === null) return null;
  const host = await ownReturnPathHost(db, workspaceId, domainOf(email));
  if (host !== null) return host;
  throw fieldError("sender_email", "must be on a sending domain whose custom return path is verified");
}
