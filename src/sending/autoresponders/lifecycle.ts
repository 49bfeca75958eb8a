/** The actions of an autoresponder's owner: create, replace, activate, deactivate, delete. */

import { listSettledFields } from "#audience/custom-fields/store.ts";
import { lockListsForUse } from "#audience/mailing-lists/store.ts";
import { maySendAs } from "#identity/may-send-as.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { requireBelowRowLimit } from "#platform/database/row-limit-store.ts";
import { ApiError, notFound, required } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import type { EndpointRequest } from "#platform/http/endpoint.ts";
import { type ResponseStored, storeResponseIn } from "#platform/http/idempotency/idempotency.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import type { ContentDeps } from "#sending/templates/take-content.ts";
import { type StorageDeps, withinBytes } from "#workspace/billing/storage-limit.ts";
import { advanceAutorespondersNow } from "./advance.ts";
import type { Autoresponder, NewAutoresponder } from "./autoresponder.ts";
import { delayOf } from "./delay.ts";
import { type AutoresponderSettings, isDateField, readAutoresponder } from "./read-autoresponder-body.ts";
import { replaceSteps } from "./replace-steps.ts";
import { listSteps } from "./steps-store.ts";
import {
  activateAutoresponder,
  autoresponderRoom,
  deactivateAutoresponder,
  findAutoresponder,
  insertAutoresponder,
  lockAutoresponder,
  removeAutoresponder,
  updateAutoresponder,
} from "./store.ts";
import { lastDay } from "./trigger-days.ts";

export interface AutoresponderDeps extends StorageDeps, Pick<ContentDeps, "compiler"> {
  readonly db: Database;
  readonly clock: Clock;
  /** Notifies the delivery workers that messages are due, or were stopped. */
  readonly notifyWorkers: (db: Queryable) => Promise<void>;
}

/** @throws ApiError NOT_FOUND */
export async function requireAutoresponder(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<Autoresponder> {
  const autoresponder = required(await findAutoresponder(db, workspaceId, id), "Autoresponder");
  const steps = await listSteps(db, workspaceId, id);
  return {
    ...autoresponder,
    steps: steps.map((step) => ({
      id: step.id,
      subject: step.subject,
      html_content: step.html_content,
      text_content: step.text_content,
      mjml: step.mjml,
      design: step.design,
      template_id: step.template_id,
      template_version: step.template_version,
      warnings: step.warnings,
      delay: delayOf(step.delay_minutes),
    })),
  };
}

/** @throws ApiError VALIDATION_ERROR, BAD_REQUEST at the maximum number of autoresponders, PLAN_LIMIT_REACHED */
export async function createAutoresponder(
  deps: AutoresponderDeps,
  { caller, body, idempotency }: EndpointRequest<unknown, unknown, NewAutoresponder>,
): Promise<ResponseStored> {
  const { db, clock } = deps;
  const { workspaceId } = caller;
  const { settings, steps } = await readAutoresponder(deps, caller, body);
  const autoresponder = { id: newId(), ...settings };
  return db.transaction(async (tx) => {
    await requireBelowRowLimit(tx, workspaceId, autoresponderRoom);
    await insertAutoresponder(tx, workspaceId, autoresponder, clock.now());
    await withinBytes(deps, tx, workspaceId, () => replaceSteps(tx, workspaceId, autoresponder, steps));
    return storeResponseIn(tx, idempotency, await requireAutoresponder(tx, workspaceId, autoresponder.id));
  });
}

/** Replaces an active or inactive autoresponder. @throws ApiError NOT_FOUND, VALIDATION_ERROR, PLAN_LIMIT_REACHED, and what lockTrigger throws */
export async function replaceAutoresponder(
  deps: AutoresponderDeps,
  caller: Caller,
  id: string,
  body: NewAutoresponder,
): Promise<Autoresponder> {
  const { db, clock } = deps;
  const { workspaceId, timezone } = caller;
  const current = await requireAutoresponder(db, workspaceId, id);
  const { settings, steps } = await readAutoresponder(deps, caller, body, current.steps);
  await db.transaction(async (tx) => {
    const held = required(await lockAutoresponder(tx, workspaceId, id), "Autoresponder");
    if (held.status === "active") await lockTrigger(tx, workspaceId, settings);
    const now = clock.now();
    const beginsAnew =
      held.mailing_list_id !== settings.mailing_list_id ||
      held.trigger_type !== settings.trigger_type ||
      held.date_field !== settings.date_field;
    // If the new time has already passed today, today is not processed.
    const passed = dayDoneBy(settings, timezone, now);
    const dayDone = beginsAnew || (held.day_done ?? "") < (passed ?? "") ? passed : held.day_done;
    await updateAutoresponder(tx, workspaceId, { id, ...settings }, { beginsAnew, dayDone, now });
    await withinBytes(deps, tx, workspaceId, () => replaceSteps(tx, workspaceId, { id, ...settings }, steps));
  });
  return requireAutoresponder(db, workspaceId, id);
}

/** The newest day whose time has passed, which a date trigger does not process any more; null without a date trigger. */
function dayDoneBy({ at }: Pick<AutoresponderSettings, "at">, timezone: string, now: Date): string | null {
  return at === null ? null : lastDay(now, { at, timezone });
}

/**
 * Locks the list and the date field against deletion. After the commit they cannot be deleted while the autoresponder is
 * active.
 * @throws ApiError BAD_REQUEST if the list was deleted, CONFLICT while it is being deleted, or if the date field is missing
 */
async function lockTrigger(
  tx: Queryable,
  workspaceId: WorkspaceId,
  {
    mailing_list_id: listId,
    date_field: field,
  }: Pick<AutoresponderSettings, "mailing_list_id" | "date_field">,
): Promise<void> {
  if ((await lockListsForUse(tx, workspaceId, [listId])) === 0) {
    throw new ApiError("BAD_REQUEST", "The autoresponder's mailing list was deleted");
  }
  if (field !== null && !isDateField(await listSettledFields(tx, workspaceId, listId), field)) {
    throw new ApiError("CONFLICT", `The list no longer has a custom field ${field} of the type date`);
  }
}

/** @throws ApiError NOT_FOUND, CONFLICT when it is active, EMAIL_NOT_VERIFIED, and what lockTrigger throws */
export async function activate(
  { db, clock, notifyWorkers }: AutoresponderDeps,
  { workspaceId, timezone }: Caller,
  id: string,
): Promise<Autoresponder> {
  await db.transaction(async (tx) => {
    const held = required(await lockAutoresponder(tx, workspaceId, id), "Autoresponder");
    if (held.status === "active") throw new ApiError("CONFLICT", "The autoresponder is already active");
    await lockTrigger(tx, workspaceId, held);
    if (!(await maySendAs(tx, workspaceId, held.from_email)).allowed) {
      throw new ApiError("EMAIL_NOT_VERIFIED", `from_email ${held.from_email} is no longer verified`);
    }
    const now = clock.now();
    const passed = dayDoneBy(held, timezone, now);
    // If the deactivation came before the daily run, that day is still processed now, until the next day's time.
    const { deactivated_at: stopped } = held;
    const isSameDay = stopped !== null && dayDoneBy(held, timezone, stopped) === passed;
    await activateAutoresponder(tx, workspaceId, id, isSameDay ? held.day_done : passed, now);
    await Promise.all([advanceAutorespondersNow(tx), notifyWorkers(tx)]);
  });
  return requireAutoresponder(db, workspaceId, id);
}

/** SMTP sessions in progress finish their message; no further message is sent. @throws ApiError NOT_FOUND, CONFLICT when it is inactive */
export async function deactivate(
  { db, clock, notifyWorkers }: AutoresponderDeps,
  workspaceId: WorkspaceId,
  id: string,
): Promise<Autoresponder> {
  const isDone = await db.transaction(async (tx) => {
    const stopped = await deactivateAutoresponder(tx, workspaceId, id, null, clock.now());
    if (stopped) await notifyWorkers(tx);
    return stopped;
  });
  const autoresponder = await requireAutoresponder(db, workspaceId, id);
  if (!isDone) throw new ApiError("CONFLICT", "The autoresponder is already inactive");
  return autoresponder;
}

/** Deletes an autoresponder. Its queued mail is cancelled. @throws ApiError NOT_FOUND */
export async function deleteAutoresponder(
  { db, notifyWorkers }: AutoresponderDeps,
  workspaceId: WorkspaceId,
  id: string,
): Promise<void> {
  await db.transaction(async (tx) => {
    if (!(await removeAutoresponder(tx, workspaceId, id))) throw notFound("Autoresponder");
    await notifyWorkers(tx);
  });
}
