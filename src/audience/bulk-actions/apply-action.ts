/**
 * Does an action to the people of one batch, in the caller's transaction. Locks as all changes of people do: the list,
 * the types of fields, people by address, suppression lists last (memberships/membership-changes.ts).
 */
import { listFieldsInForce, shareLockFieldTypes } from "#audience/custom-fields/store.ts";
import { lockMailingList } from "#audience/mailing-lists/store.ts";
import { listTooFull, setFieldOfPeople } from "#audience/subscribers/field-values-store.ts";
import { insertMembers } from "#audience/subscribers/memberships/add-members.ts";
import { removeMembers, updateStatuses } from "#audience/subscribers/memberships/membership-changes.ts";
import { personWideStatuses } from "#audience/subscribers/memberships/status.ts";
import type { OnSubscriberEvents, SubscriberEvent } from "#audience/subscribers/subscriber-events.ts";
import { insertEntries, refreshStatistics } from "#audience/suppression-lists/entry-store.ts";
import { lockSuppressionList } from "#audience/suppression-lists/store.ts";
import { suppressPeople } from "#audience/suppression-lists/suppress-after-outcome.ts";
import type { Transaction } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { requireRows, rowLimit, type StorageDeps } from "#workspace/billing/storage-limit.ts";
import type { PeopleAction } from "./bulk-action.ts";
import { whyNoLongerFits } from "./field-value.ts";
import {
  type BatchCounts,
  type LockedPerson,
  listLacking,
  listMembershipStates,
  lockThese,
  type MembershipState,
  memberRelation,
  type RefusedPerson,
  statusRelation,
} from "./store.ts";

export interface ApplyDeps extends StorageDeps {
  readonly onSubscribers: OnSubscriberEvents;
}

/** A batch of one action. */
export interface ActionBatch {
  readonly workspaceId: WorkspaceId;
  readonly ids: readonly string[];
  /** Name of the API key or person who started the action. */
  readonly startedBy: string;
  readonly now: Date;
}

type Apply<Type extends PeopleAction["type"]> = (
  tx: Transaction,
  deps: ApplyDeps,
  batch: ActionBatch,
  action: Extract<PeopleAction, { type: Type }>,
) => Promise<BatchCounts>;

/** @throws ApiError NOT_FOUND when a list was deleted, PLAN_LIMIT_REACHED */
export function applyAction(
  tx: Transaction,
  deps: ApplyDeps,
  batch: ActionBatch,
  action: PeopleAction,
): Promise<BatchCounts> {
  switch (action.type) {
    case "add_to_list":
      return addToList(tx, deps, batch, action);
    case "remove_from_list":
      return removeFromList(tx, deps, batch, action);
    case "set_status":
      return setStatuses(tx, deps, batch, action);
    case "set_field":
      return setField(tx, deps, batch, action);
    case "suppress":
      return suppress(tx, deps, batch, action);
    case "delete":
      return deletePeople(tx, deps, batch, action);
  }
}

const UNKNOWN = "no person of this workspace has this id";

/** Locks the people of the batch; the others do not exist, or no longer. */
async function lockPeopleOf(
  tx: Transaction,
  { workspaceId, ids }: ActionBatch,
): Promise<{ readonly people: LockedPerson[]; readonly unknown: RefusedPerson[] }> {
  const people = await lockThese(tx, workspaceId, ids);
  const found = new Set(people.map(({ id }) => id));
  const unknown = ids.filter((id) => !found.has(id)).map((id) => ({ id, reason: UNKNOWN }));
  return { people, unknown };
}

const idsOf = (people: readonly { readonly id: string }[]) => people.map(({ id }) => id);

/** As a call of addMember for each, without new values: defaults are given, and a required field must have a value. */
const addToList: Apply<"add_to_list"> = async (
  tx,
  { onSubscribers },
  batch,
  { mailing_list_id: mailingListId },
) => {
  const { workspaceId, now } = batch;
  await lockMailingList(tx, workspaceId, mailingListId);
  await shareLockFieldTypes(tx, workspaceId);
  const { people, unknown } = await lockPeopleOf(tx, batch);
  const fields = await listFieldsInForce(tx, workspaceId, mailingListId);
  const required = fields.filter((field) => field.is_required && field.default_value === null);
  const before = await listMembershipStates(tx, workspaceId, idsOf(people), mailingListId);
  const isMember = new Set(before.map(({ subscriber_id }) => subscriber_id));
  const newcomers = people.filter(({ id }) => !isMember.has(id));
  const lacking = await listLacking(
    tx,
    workspaceId,
    idsOf(newcomers),
    required.map(({ field_name }) => field_name),
  );
  const refused = lacking.map(({ id, lacks }) => ({ id, reason: `the list requires the field ${lacks}` }));
  const isRefused = new Set(idsOf(refused));
  const joining = newcomers.filter(({ id }) => !isRefused.has(id));
  if (joining.length > 0) {
    const defaults = fields.filter(({ default_value }) => default_value !== null);
    await insertMembers(tx, workspaceId, {
      mailingListId,
      people: memberRelation(joining),
      now,
      updateExisting: true,
      resubscribe: false,
      defaults: Object.fromEntries(
        defaults.map(({ field_name, default_value }) => [field_name, default_value]),
      ),
    });
    const after = await listMembershipStates(tx, workspaceId, idsOf(joining), mailingListId);
    await onSubscribers(tx, after.map(eventFor(batch, "updated")));
  }
  return { changed: joining.length, unchanged: before.length, refused: [...unknown, ...refused] };
};

const removeFromList: Apply<"remove_from_list"> = async (
  tx,
  _deps,
  batch,
  { mailing_list_id: mailingListId },
) => {
  const { workspaceId, now } = batch;
  await lockMailingList(tx, workspaceId, mailingListId);
  const { people, unknown } = await lockPeopleOf(tx, batch);
  const removed = await removeMembers(tx, workspaceId, mailingListId, idsOf(people), now);
  return { changed: removed, unchanged: people.length - removed, refused: unknown };
};

const deletePeople: Apply<"delete"> = async (tx, _deps, batch) => {
  const { people, unknown } = await lockPeopleOf(tx, batch);
  await removeMembers(tx, batch.workspaceId, null, idsOf(people), batch.now);
  return { changed: people.length, unchanged: 0, refused: unknown };
};

/** As a call of setMemberStatus for each: also for the address, if the person bounced or complained. */
const setStatuses: Apply<"set_status"> = async (
  tx,
  { onSubscribers },
  batch,
  { mailing_list_id, status },
) => {
  const { workspaceId, startedBy: createdBy, now } = batch;
  if (mailing_list_id !== null) await lockMailingList(tx, workspaceId, mailing_list_id);
  const { people, unknown } = await lockPeopleOf(tx, batch);
  const before = await listMembershipStates(tx, workspaceId, idsOf(people), mailing_list_id);
  await updateStatuses(tx, workspaceId, statusRelation(before, status), now);
  const after = await listMembershipStates(tx, workspaceId, idsOf(people), mailing_list_id);
  const held = new Map(before.map((one) => [keyOf(one), one.status]));
  const moved = after.filter((one) => held.get(keyOf(one)) !== one.status);
  const kind = status === "unsubscribed" ? "unsubscribed" : "updated";
  await onSubscribers(tx, moved.map(eventFor(batch, kind)));
  const suppressing = personWideStatuses.find((one) => one === status);
  if (suppressing !== undefined && before.length > 0) {
    const addresses = [...new Set(before.map(({ email }) => email))];
    await suppressPeople(tx, workspaceId, { addresses, status: suppressing }, { createdBy, createdAt: now });
  }
  const changed = new Set(moved.map(({ subscriber_id }) => subscriber_id)).size;
  return { changed, unchanged: people.length - changed, refused: unknown };
};

const keyOf = ({ mailing_list_id, subscriber_id }: MembershipState) => `${mailing_list_id} ${subscriber_id}`;

const setField: Apply<"set_field"> = async (
  tx,
  { onSubscribers },
  batch,
  { mailing_list_id, field, value },
) => {
  const { workspaceId, now } = batch;
  if (mailing_list_id !== null) await lockMailingList(tx, workspaceId, mailing_list_id);
  // No type changes until the batch is committed; one that has changed has converted the values of earlier batches.
  await shareLockFieldTypes(tx, workspaceId);
  const { people, unknown } = await lockPeopleOf(tx, batch);
  const members =
    mailing_list_id === null
      ? []
      : await listMembershipStates(tx, workspaceId, idsOf(people), mailing_list_id);
  const meant = mailing_list_id === null ? idsOf(people) : members.map(({ subscriber_id }) => subscriber_id);
  const place = { mailingListId: mailing_list_id, field };
  const reason = await whyNoLongerFits(tx, workspaceId, place, value);
  if (reason !== undefined) {
    const refused = meant.map((id) => ({ id, reason }));
    return { changed: 0, unchanged: people.length - refused.length, refused: [...unknown, ...refused] };
  }
  const tooFull = new Set(idsOf(await listTooFull(tx, workspaceId, meant, { field, value })));
  const open = meant.filter((id) => !tooFull.has(id));
  const changed = await setFieldOfPeople(tx, workspaceId, open, { field, value }, now);
  const events = changed.map(({ id: subscriber_id, email, status }) =>
    eventFor(batch, "updated")({ subscriber_id, email, status, mailing_list_id }),
  );
  await onSubscribers(tx, events);
  const refused = [...tooFull].map((id) => ({
    id,
    reason: "the custom fields of the person would exceed the limits of one person",
  }));
  const unchanged = people.length - changed.length - refused.length;
  return { changed: changed.length, unchanged, refused: [...unknown, ...refused] };
};

const suppress: Apply<"suppress"> = async (tx, deps, batch, { suppression_list_id: listId }) => {
  const { workspaceId, startedBy: createdBy, now: createdAt } = batch;
  const limit = await rowLimit(deps, tx, workspaceId, "suppression_entries");
  const { people, unknown } = await lockPeopleOf(tx, batch);
  await lockSuppressionList(tx, workspaceId, listId);
  const values = people.map(({ email }) => ({ value: email, normalized: email, type: "email" }) as const);
  const added = await insertEntries(tx, { workspaceId, listId }, values, { createdBy, createdAt });
  await requireRows(tx, workspaceId, limit, added);
  await refreshStatistics(tx, added);
  return { changed: added, unchanged: people.length - added, refused: unknown };
};

function eventFor({ workspaceId, now: time }: ActionBatch, kind: SubscriberEvent["kind"]) {
  return (one: {
    readonly subscriber_id: string;
    readonly email: string;
    readonly status: string;
    readonly mailing_list_id: string | null;
  }): SubscriberEvent => ({
    workspaceId,
    kind,
    subscriberId: one.subscriber_id,
    email: one.email,
    mailingListId: one.mailing_list_id,
    status: one.status,
    time,
  });
}
