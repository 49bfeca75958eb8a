/**
 * Reads the body of POST and PUT into the settings of a campaign, where an omitted field has its default, and that of PATCH
 * into changes. Everything that can be
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
import type { Campaign, CampaignChange, CampaignSettings, NewCampaign } from "#sending/campaigns/campaign.ts";
import { type CampaignFieldName, duplicatedFields } from "#sending/campaigns/campaign-fields.ts";
import { readScheduledAt } from "#sending/campaigns/scheduled-at.ts";
import { contentWarnings } from "#sending/content/compile-for-workspace.ts";
import { readCustomHeaders } from "#sending/content/read-custom-headers.ts";
import { readAttachments, withSize } from "#sending/emails/read-attachments.ts";
import {
  fieldError,
  readBody,
  readBounceEmail,
  readDesignSize,
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

/** What the readers of fields need. */
interface ReadingContext {
  readonly db: Database;
  readonly workspaceId: WorkspaceId;
  readonly timezone: string;
}

/** Fields whose values depend on each other are read together (readAudience, readPhoneField, requireRoute). */
type SingleField = Exclude<
  CampaignFieldName,
  | keyof AudienceSettings
  | "phone_field_name"
  | "virtual_mta_ip"
  | "routing_rule_id"
  | "url_domain_id"
  | "sender_email"
>;

/** Reads one field of a body with the rest of it. */
type FieldReaders = {
  readonly [Name in SingleField]: (
    body: NewCampaign,
    context: ReadingContext,
  ) => CampaignSettings[Name] | Promise<CampaignSettings[Name]>;
};

const singleFields: FieldReaders = {
  name: ({ name }) => readName(name),
  subject({ subject }) {
    if (subject === undefined) throw fieldError("subject", "is required");
    return readSubject(subject);
  },
  from_email: ({ from_email }, { db, workspaceId }) => readFromEmail(db, workspaceId, from_email),
  from_name: ({ from_name }) => readFromName(from_name),
  reply_to: ({ reply_to }) => readMailAddress("reply_to", reply_to),
  message_type: ({ message_type }) => message_type ?? "email",
  html_content: ({ html_content }) => readBody(html_content),
  text_content: ({ text_content }) => readBody(text_content),
  mjml: ({ mjml }) => readBody(mjml),
  template_id: ({ template_id }) => template_id ?? null,
  template_version: ({ template_version }) => template_version ?? null,
  design: ({ design }) => (design == null ? null : readDesignSize(design)),
  enable_open_tracking: (body) => body.enable_open_tracking ?? null,
  enable_click_tracking: (body) => body.enable_click_tracking ?? null,
  use_custom_headers: (body) => body.use_custom_headers ?? false,
  custom_headers({ custom_headers }) {
    const text = readBody(custom_headers);
    if (text !== null) readCustomHeaders(text);
    return text;
  },
  bounce_email: ({ bounce_email }, { db, workspaceId }) => readBounceEmail(db, workspaceId, bounce_email),
  scheduled_at: ({ scheduled_at: time }, { timezone }) =>
    time == null || time.trim() === "" ? null : readScheduledAt(time, timezone),
  attachments: ({ attachments }) => readAttachments(attachments ?? []).map(withSize),
};

const singleFieldNames = Object.keys(singleFields) as SingleField[];

/** Reads these fields, in the order of the table. @throws ApiError VALIDATION_ERROR naming the field */
async function readSingleFields(
  body: NewCampaign,
  context: ReadingContext,
  names: readonly SingleField[] = singleFieldNames,
): Promise<Partial<CampaignSettings>> {
  const read: [string, unknown][] = [];
  for (const name of names) read.push([name, await singleFields[name](body, context)]);
  return Object.fromEntries(read);
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
  const single = (await readSingleFields(body, { db, workspaceId, timezone })) as Pick<
    CampaignSettings,
    SingleField
  >;
  const settings = {
    ...single,
    phone_field_name: await readPhoneField(db, workspaceId, listId, body),
    ...audience,
  };
  return {
    ...settings,
    ...(await readRouting(reader, workspaceId, body)),
    warnings: await contentWarnings(db, workspaceId, settings, listId),
    total_recipients: await estimateAudience(db, workspaceId, audience, now),
  };
}

const audienceFields = ["recipient_type", "mailing_list_id", "segment_id", "segment_conditions"] as const;
/** Fields that the warnings about the content depend on, besides the audience. */
const contentFields = [
  "message_type",
  "subject",
  "html_content",
  "text_content",
  "enable_open_tracking",
  "enable_click_tracking",
] as const;

/** What PATCH changes, and the whole campaign that it would be. */
export interface ReadChange {
  readonly changes: Partial<CampaignSettings>;
  readonly whole: NewCampaign;
  readonly changesAudience: boolean;
}

/**
 * Reads the body of PATCH: only the fields that it has are checked, with the fields that their values depend on. So a draft
 * whose sender lost its verification can still be written.
 * @throws ApiError VALIDATION_ERROR naming the field
 */
export async function readChange(
  reader: CampaignReader,
  { workspaceId, timezone }: Pick<Caller, "workspaceId" | "timezone">,
  current: Campaign,
  body: CampaignChange,
  now: Date,
): Promise<ReadChange> {
  const { db } = reader;
  const has = (...names: readonly CampaignFieldName[]) => names.some((name) => body[name] !== undefined);
  const whole = changedBody(current, body);
  const changesAudience = has(...audienceFields);
  const read = changesAudience ? await readAudience(db, workspaceId, whole, now) : undefined;
  const changes: Partial<CampaignSettings> = await readSingleFields(
    whole,
    { db, workspaceId, timezone },
    singleFieldNames.filter((name) => has(name)),
  );
  const listId = read === undefined ? await presentList(db, workspaceId, current) : read.listId;
  if (changesAudience || has("message_type", "phone_field_name")) {
    changes.phone_field_name = await readPhoneField(db, workspaceId, listId, whole);
  }
  if (has("url_domain_id")) changes.url_domain_id = await readTrackingDomain(reader, workspaceId, whole);
  if (has("virtual_mta_ip", "routing_rule_id"))
    Object.assign(changes, await readRoute(db, workspaceId, whole));
  if (has("sender_email")) changes.sender_email = await readSenderEmail(db, workspaceId, whole);
  if (read !== undefined) {
    Object.assign(changes, read.audience);
    changes.total_recipients = await estimateAudience(db, workspaceId, read.audience, now);
  }
  if (changesAudience || has(...contentFields)) {
    changes.warnings = await contentWarnings(db, workspaceId, { ...current, ...changes }, listId);
  }
  return { changes, whole, changesAudience };
}

/** The campaign as a body with the changes. What a change says about the audience decides the kind of recipients. */
function changedBody(current: Campaign, body: CampaignChange): NewCampaign {
  const { scheduled_at, attachments: _files, ...kept } = duplicatedFields(current, () => false);
  const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
  const namesAudience = audienceFields.some((name) => given[name] !== undefined);
  const named = given.segment_id ? "segment" : given.segment_conditions ? "custom" : undefined;
  return {
    ...kept,
    scheduled_at: scheduled_at?.toISOString() ?? null,
    ...(namesAudience && { recipient_type: named ?? null }),
    ...given,
  };
}

/** The list of the present audience. Its segment may be deleted: then only its own mailing_list_id is known. */
export async function presentList(
  db: Queryable,
  workspaceId: WorkspaceId,
  { recipient_type, segment_id, mailing_list_id }: AudienceSettings,
): Promise<string | null> {
  if (recipient_type !== "segment" || segment_id === null) return mailing_list_id;
  const segment = await findSegment(db, workspaceId, undefined, segment_id);
  return segment?.mailing_list_id ?? mailing_list_id;
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
  return {
    url_domain_id: await readTrackingDomain(reader, workspaceId, body),
    ...(await readRoute(db, workspaceId, body)),
    sender_email: await readSenderEmail(db, workspaceId, body),
  };
}

async function readTrackingDomain(
  reader: CampaignReader,
  workspaceId: WorkspaceId,
  { url_domain_id = null }: NewCampaign,
): Promise<string | null> {
  await requireTrackingDomain(reader.db, workspaceId, { url_domain_id }, reader);
  return url_domain_id;
}

async function readRoute(
  db: Queryable,
  workspaceId: WorkspaceId,
  body: NewCampaign,
): Promise<Pick<CampaignSettings, "virtual_mta_ip" | "routing_rule_id">> {
  const { virtualMtaIp, routingRuleId } = await requireRoute(db, workspaceId, body);
  return { virtual_mta_ip: virtualMtaIp, routing_rule_id: routingRuleId };
}

async function readSenderEmail(
  db: Queryable,
  workspaceId: WorkspaceId,
  body: NewCampaign,
): Promise<string | null> {
  const address = readMailAddress("sender_email", body.sender_email);
  await requireReturnPath(db, workspaceId, address);
  return address;
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
