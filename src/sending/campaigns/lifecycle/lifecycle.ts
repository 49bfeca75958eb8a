/**
 * The actions of a campaign's owner. Every transition is one statement that names the statuses it may start from
 * (transitions-store.ts), so that of fifty calls at once one succeeds and the others get CONFLICT.
 *
 *     draft ──send──> scheduled ──at its time──> sending ──queue is empty──> sent
 *       ^──unschedule──┘                       │   ^                     │
 *                                        pause v   │ resume              │ auto-pause, while mail is deferred
 *                                             paused <───────────────────┘
 *
 * and cancel, from scheduled, sending and paused, to cancelled.
 */

import { isDeepStrictEqual } from "node:util";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { requireBelowRowLimit } from "#platform/database/row-limit-store.ts";
import { ApiError, invalid, required } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import type { EndpointRequest } from "#platform/http/endpoint.ts";
import { type ResponseStored, storeResponseIn } from "#platform/http/idempotency/idempotency.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { countAudience } from "#sending/campaigns/audience/count-audience.ts";
import { estimateAudience } from "#sending/campaigns/audience/find-audience.ts";
import { lockAudience } from "#sending/campaigns/audience/lock-audience.ts";
import type { Campaign, CampaignChange, CampaignSettings, NewCampaign } from "#sending/campaigns/campaign.ts";
import { type OnCampaignEvents, pauseAndAnnounce } from "#sending/campaigns/campaign-events.ts";
import { campaignFieldNames, duplicatedFields } from "#sending/campaigns/campaign-fields.ts";
import { readScheduledAt } from "#sending/campaigns/scheduled-at.ts";
import {
  type CampaignState,
  campaignRoom,
  changeDraft,
  findCampaign,
  findCampaignState,
  insertCampaign,
  lockRevision,
  removeCampaign,
  updateDraft,
  type Without,
} from "#sending/campaigns/store.ts";
import {
  cancelCampaign,
  resumeCampaign,
  sendDraft,
  unscheduleCampaign,
} from "#sending/campaigns/transitions-store.ts";
import { isDesign } from "#sending/designs/read-design.ts";
import { changedMeanwhile, etagOf } from "#sending/revision.ts";
import { type ContentDeps, takeContent } from "#sending/templates/take-content.ts";
import { type StorageDeps, withinBytes } from "#workspace/billing/storage-limit.ts";
import { copyName } from "#workspace/read-display-name.ts";
import { advanceCampaignsNow } from "./advance.ts";
import { type CampaignReader, readCampaign, readChange, requireAudience } from "./read-campaign-body.ts";
import {
  checkSendable,
  lockCampaignLists,
  lockUsed,
  requireAudienceLeft,
  type SendChecks,
} from "./send-checks.ts";

export interface CampaignDeps extends CampaignReader, SendChecks, StorageDeps, Pick<ContentDeps, "compiler"> {
  readonly db: Database;
  readonly clock: Clock;
  /** Notifies the delivery workers that messages are due, or were stopped. */
  readonly notifyWorkers: (db: Queryable) => Promise<void>;
  readonly onCampaignEvents: OnCampaignEvents;
}

/** @throws ApiError NOT_FOUND */
export async function requireCampaign(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  without?: Without,
): Promise<Campaign> {
  return required(await findCampaign(db, workspaceId, id, without), "Campaign");
}

/** @throws ApiError NOT_FOUND */
export async function requireCampaignState(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<CampaignState> {
  return required(await findCampaignState(db, workspaceId, id), "Campaign");
}

export async function createCampaign(
  deps: CampaignDeps,
  { caller, body: given, idempotency }: EndpointRequest<unknown, unknown, NewCampaign>,
): Promise<ResponseStored> {
  const { db, clock } = deps;
  const { workspaceId } = caller;
  const now = clock.now();
  const id = newId();
  const body = await takeMailContent(deps, caller, given);
  const settings = await readCampaign(deps, caller, body, now);
  return db.transaction(async (tx) => {
    await requireAudience(tx, workspaceId, { body, settings }, now);
    await addCampaign(deps, tx, workspaceId, { id, ...settings }, now);
    return storeResponseIn(tx, idempotency, await requireCampaign(tx, workspaceId, id));
  });
}

/** @throws ApiError BAD_REQUEST at the maximum number of campaigns, PLAN_LIMIT_REACHED */
async function addCampaign(
  deps: CampaignDeps,
  tx: Queryable,
  workspaceId: WorkspaceId,
  campaign: Parameters<typeof insertCampaign>[2],
  now: Date,
): Promise<void> {
  await requireBelowRowLimit(tx, workspaceId, campaignRoom);
  await withinBytes(deps, tx, workspaceId, () => insertCampaign(tx, workspaceId, campaign, now));
}

type MayBe = ChangeRequest["mayBe"];

/** @throws ApiError PRECONDITION_FAILED unless the caller may have seen this revision */
async function requireSeen(
  db: Queryable,
  workspaceId: WorkspaceId,
  { id, revision }: Pick<Campaign, "id" | "revision">,
  mayBe: MayBe,
): Promise<void> {
  if (mayBe(etagOf({ revision }))) return;
  const current = await requireCampaign(db, workspaceId, id, "attachments");
  throw changedMeanwhile("campaign", current, " (attachments without their content)");
}

/** @throws ApiError PRECONDITION_FAILED unless the caller may have seen the revision, which stays until the transaction ends */
async function lockSeen(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  mayBe: MayBe,
): Promise<number | undefined> {
  const locked = await lockRevision(tx, workspaceId, id);
  if (locked !== undefined) await requireSeen(tx, workspaceId, { id, ...locked }, mayBe);
  return locked?.revision;
}

/** @throws ApiError NOT_FOUND, CONFLICT unless it is a draft, PRECONDITION_FAILED, VALIDATION_ERROR, PLAN_LIMIT_REACHED */
export async function replaceCampaign(
  deps: CampaignDeps,
  { caller, params: { id }, body: given, mayBe }: EndpointRequest<{ id: string }, unknown, NewCampaign>,
): Promise<Campaign> {
  const { db, clock } = deps;
  const { workspaceId } = caller;
  const current = await requireCampaign(db, workspaceId, id, "attachments");
  await requireSeen(db, workspaceId, current, mayBe);
  if (current.status !== "draft") throw notADraft(current.status);
  const now = clock.now();
  // An omitted field has its default, and not that of the draft.
  const whole = {
    ...given,
    message_type: given.message_type ?? "email",
    template_id: given.template_id ?? null,
  };
  const body = await takeMailContent(deps, caller, whole, current);
  const settings = await readCampaign(deps, caller, body, now);
  const isReplaced = await db.transaction(async (tx) => {
    await requireAudience(tx, workspaceId, { body, settings }, now);
    const revision = await lockSeen(tx, workspaceId, id, mayBe);
    // As PATCH: the draft keeps its revision, and so its approval.
    if (revision === current.revision && !differs(current, settings)) return true;
    return withinBytes(deps, tx, workspaceId, () => updateDraft(tx, workspaceId, id, settings, now));
  });
  if (!isReplaced) throw notADraft((await requireCampaignState(db, workspaceId, id)).status);
  return requireCampaign(db, workspaceId, id);
}

/** Attempts to change a draft that other requests change at the same time. */
const MOST_CHANGES = 5;

/**
 * Changes the fields of a draft that the body has. Without a version in If-Match the last writer wins: if another request
 * changes the draft meanwhile, its changes are read and kept where the body has none.
 * @throws ApiError NOT_FOUND, CONFLICT unless it is a draft, PRECONDITION_FAILED, VALIDATION_ERROR, PLAN_LIMIT_REACHED
 */
export async function updateCampaign(
  deps: CampaignDeps,
  { caller, params: { id }, body, mayBe }: Pick<ChangeRequest, "caller" | "params" | "body" | "mayBe">,
  without: Without | undefined,
): Promise<Campaign> {
  const { db, clock } = deps;
  const { workspaceId } = caller;
  for (let attempt = 0; attempt < MOST_CHANGES; attempt += 1) {
    const current = required(await findCampaign(db, workspaceId, id, "attachments"), "Campaign");
    await requireSeen(db, workspaceId, current, mayBe);
    if (current.status !== "draft") throw notADraft(current.status);
    if (!namesField(body)) break;
    if (await change(deps, caller, current, body, clock.now())) break;
    if (attempt === MOST_CHANGES - 1) {
      throw new ApiError("CONFLICT", "Other requests keep changing the campaign: send this one again");
    }
  }
  return requireCampaign(db, workspaceId, id, without);
}

/** Whether the body names a field of a campaign: others are ignored. */
function namesField(body: CampaignChange): boolean {
  return campaignFieldNames.some((name) => body[name] !== undefined);
}

type ChangeRequest = EndpointRequest<{ id: string }, unknown, CampaignChange>;

/** False when another request was faster. */
async function change(
  deps: CampaignDeps,
  caller: Caller,
  current: Campaign,
  given: CampaignChange,
  now: Date,
): Promise<boolean> {
  const { workspaceId } = caller;
  const body = await takeMailContent(deps, caller, given, current);
  const { changes, whole, changesAudience } = await readChange(deps, caller, current, body, now);
  const changed = { ...current, ...changes };
  return deps.db.transaction(async (tx) => {
    if (changesAudience) await requireAudience(tx, workspaceId, { body: whole, settings: changed }, now);
    // The draft keeps its revision: its approval and the versions that other callers have read stay valid.
    if (!differs(current, changes)) return true;
    const write = () => changeDraft(tx, workspaceId, current, changes, changesAudience ? changed : null, now);
    const isLarge = largeFields.some((name) => changes[name] !== undefined);
    return isLarge ? withinBytes(deps, tx, workspaceId, write) : write();
  });
}

/** The body with its content, for mail. @throws ApiError VALIDATION_ERROR for the content of a mail in an SMS, and those of takeContent */
function takeMailContent<Body extends CampaignChange>(
  deps: CampaignDeps,
  caller: Caller,
  body: Body,
  current: Campaign | null = null,
): Promise<Body> {
  if ((body.message_type ?? current?.message_type) !== "sms") return takeContent(deps, caller, body, current);
  for (const field of ["template_id", "template_version", "mjml"] as const) {
    if (body[field] != null)
      throw invalid({ field, message: `${field} is for email: an SMS has its text_content` });
  }
  if (current === null || current.message_type === "sms") return Promise.resolve(body);
  // Otherwise the draft could not be sent back as it is read.
  const source = { template_id: null, template_version: null, mjml: null };
  const isOurs = body.design === undefined && isDesign(current.design);
  return Promise.resolve({ ...body, ...source, ...(isOurs && { design: null }) });
}

/** Whether a field or the warnings get another value. A new estimate alone is no change of the draft. */
function differs(current: Campaign, { attachments, ...changes }: Partial<CampaignSettings>): boolean {
  // The current files were read without their content.
  if (attachments !== undefined && attachments.length + current.attachments.length > 0) return true;
  if (changes.warnings !== undefined && !isDeepStrictEqual(changes.warnings, current.warnings)) return true;
  return campaignFieldNames.some(
    (name) =>
      name !== "attachments" &&
      changes[name] !== undefined &&
      !isDeepStrictEqual(changes[name], current[name]),
  );
}

/** The fields whose bytes count as stored drafts. */
const largeFields = ["html_content", "text_content", "mjml", "design", "attachments"] as const;

function notADraft(status: string): ApiError {
  return new ApiError(
    "CONFLICT",
    `The campaign is ${status}: only a draft can be changed. Duplicate it to make a new draft.`,
  );
}

/** The body of POST /campaigns/{id}/send, which overrides the draft's own time. */
export interface SendOrder {
  readonly scheduled_at?: string | null;
  readonly send_now?: boolean | null;
}

/** @throws ApiError VALIDATION_ERROR, NOT_FOUND, CONFLICT unless it is a draft, and what checkSendable throws */
export async function sendCampaign(
  deps: CampaignDeps,
  {
    caller,
    params: { id },
    body: order,
    idempotency,
    mayBe,
  }: EndpointRequest<{ id: string }, unknown, SendOrder>,
): Promise<ResponseStored> {
  const { db, clock } = deps;
  const { workspaceId, timezone } = caller;
  const now = clock.now();
  // The two contradict each other, and sent mail cannot be recalled.
  if (order.scheduled_at != null && order.send_now) {
    throw invalid({ field: "send_now", message: "send_now and scheduled_at exclude each other: give one" });
  }
  const campaign = required(await findCampaign(db, workspaceId, id), "Campaign");
  if (campaign.status !== "draft") throw wrongState(campaign.status, "sent", "a draft");
  await requireSeen(db, workspaceId, campaign, mayBe);
  const scheduledAt = order.send_now ? null : timeOf(order, campaign.scheduled_at, timezone);
  const warnings = await checkSendable(deps, caller, campaign, now);
  const waits = scheduledAt !== null && scheduledAt > now;
  const estimate = waits ? await recipientsOf(deps, workspaceId, campaign, now) : campaign.total_recipients;
  return db.transaction(async (tx) => {
    const dispatch = { id, revision: campaign.revision, scheduledAt, warnings, estimate };
    // What the campaign uses may have been deleted since the checks.
    await lockUsed(deps, tx, workspaceId, campaign, now);
    if (!(await sendDraft(tx, workspaceId, dispatch, now)))
      throw new ApiError(
        "CONFLICT",
        "Another request has sent or changed the campaign. Read it and try again.",
      );
    await advanceCampaignsNow(tx);
    return storeResponseIn(tx, idempotency, await requireCampaign(tx, workspaceId, id));
  });
}

/** The caller has an answer after PATIENCE_MS, of which the checks and the change need a part. */
const MOST_COUNT_MS = 2_000;

/**
 * How many people would get it now. The draft's estimate may be old, and counts those who are suppressed; it remains where
 * counting takes too long. A campaign that is sent now counts its recipients anyway.
 */
async function recipientsOf(
  { db, smsCountry }: CampaignDeps,
  workspaceId: WorkspaceId,
  campaign: Campaign,
  now: Date,
): Promise<number> {
  const counted = await countAudience(db, workspaceId, campaign, { now, smsCountry, totalMs: MOST_COUNT_MS });
  return counted.outcome === "counted" ? counted.audience.will_send : campaign.total_recipients;
}

/**
 * When a campaign is sent: the time of the call, otherwise that of the draft; null means now. An empty time in the call is
 * refused, because it is more likely an empty form field than a wish to send now.
 */
function timeOf(order: SendOrder, ofDraft: Date | null, timezone: string): Date | null {
  const given = order.scheduled_at;
  const isEmpty = given !== undefined && (given ?? "").trim() === "";
  if (isEmpty && (given !== null || ofDraft === null)) {
    const message = "scheduled_at is empty: give a time, or omit it; send_now sends at once";
    throw invalid({ field: "scheduled_at", message });
  }
  return given == null ? ofDraft : readScheduledAt(given, timezone);
}

/** SMTP sessions in progress finish their message; no further message is sent. */
export function pause(deps: CampaignDeps, workspaceId: WorkspaceId, id: string): Promise<Campaign> {
  return move(deps, workspaceId, id, ["paused", "one that is sending"], (tx, now) =>
    pauseAndAnnounce(tx, workspaceId, id, { reason: null, now, onCampaignEvents: deps.onCampaignEvents }),
  );
}

/** @throws ApiError CONFLICT, also when the audience's list or segment was deleted or is being deleted */
export function resume(deps: CampaignDeps, workspaceId: WorkspaceId, id: string): Promise<Campaign> {
  return move(deps, workspaceId, id, ["resumed", "one that is paused"], async (tx, now) => {
    await lockCampaignLists(tx, workspaceId, id);
    await requireAudienceLeft(tx, workspaceId, id, now);
    return resumeCampaign(tx, workspaceId, id, now);
  });
}

export function cancel(deps: CampaignDeps, workspaceId: WorkspaceId, id: string): Promise<Campaign> {
  return move(deps, workspaceId, id, ["cancelled", "one that is scheduled, sending or paused"], (tx, now) =>
    cancelCampaign(tx, workspaceId, id, now),
  );
}

export function unschedule(deps: CampaignDeps, workspaceId: WorkspaceId, id: string): Promise<Campaign> {
  return move(deps, workspaceId, id, ["unscheduled", "one that is scheduled"], (tx, now) =>
    unscheduleCampaign(tx, workspaceId, id, now),
  );
}

/** @throws ApiError NOT_FOUND, CONFLICT when the campaign's status does not allow the action */
async function move(
  { db, clock, notifyWorkers }: CampaignDeps,
  workspaceId: WorkspaceId,
  id: string,
  [done, only]: readonly [string, string],
  change: (tx: Queryable, now: Date) => Promise<boolean>,
): Promise<Campaign> {
  return db.transaction(async (tx) => {
    const isMoved = await change(tx, clock.now());
    if (!isMoved) throw wrongState((await requireCampaignState(tx, workspaceId, id)).status, done, only);
    await Promise.all([advanceCampaignsNow(tx), notifyWorkers(tx)]);
    // The transaction has the row lock, so the answer shows the result of this call.
    return requireCampaign(tx, workspaceId, id);
  });
}

function wrongState(status: string, done: string, only: string): ApiError {
  return new ApiError("CONFLICT", `The campaign is ${status}: only ${only} can be ${done}`);
}

/** Makes a new draft with the same fields, without a time, and with a new estimate. The original's audience may be deleted. */
export async function duplicateCampaign(
  deps: CampaignDeps,
  workspaceId: WorkspaceId,
  id: string,
): Promise<Campaign> {
  const { db, clock } = deps;
  const now = clock.now();
  const original = await requireCampaign(db, workspaceId, id);
  const copy = {
    ...duplicatedFields(original),
    id: newId(),
    name: copyName(original.name),
    warnings: original.warnings,
    total_recipients: await estimateAudience(db, workspaceId, original, now),
  };
  await db.transaction(async (tx) => {
    await lockAudience(tx, workspaceId, copy);
    await addCampaign(deps, tx, workspaceId, copy, now);
  });
  return requireCampaign(db, workspaceId, copy.id);
}

/** @throws ApiError NOT_FOUND, CONFLICT while the campaign is sending */
export async function deleteCampaign(
  { db, clock }: CampaignDeps,
  workspaceId: WorkspaceId,
  id: string,
  mayBe: MayBe,
): Promise<void> {
  const isRemoved = await db.transaction(async (tx) => {
    await lockSeen(tx, workspaceId, id, mayBe);
    return removeCampaign(tx, workspaceId, id, clock.now());
  });
  if (isRemoved) return;
  await requireCampaignState(db, workspaceId, id);
  throw new ApiError("CONFLICT", "The campaign is being sent: pause or cancel it first");
}
