/** Adds, changes and removes one person on a list, for API calls and sign-up forms. */

import sql, { type Sql } from "sql-template-tag";
import { listFieldsInForce, shareLockFieldTypes } from "#audience/custom-fields/store.ts";
import { workspaceDates } from "#audience/custom-fields/workspace-date-reader.ts";
import { lockMailingList } from "#audience/mailing-lists/store.ts";
import type { EntryOrigin } from "#audience/suppression-lists/entry-store.ts";
import { suppressPerson } from "#audience/suppression-lists/suppress-after-outcome.ts";
import { findSuppressions } from "#audience/suppression-lists/suppression-check.ts";
import { domainOf } from "#mail/address.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { ApiError, invalid, notFound, required } from "#platform/errors.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { requireRows, rowLimit, type StorageDeps } from "#workspace/billing/storage-limit.ts";
import { readObject, type ValueReader, valueReader } from "./check-custom-field-values.ts";
import { insertMembers } from "./memberships/add-members.ts";
import { removeMembers, updateStatuses } from "./memberships/membership-changes.ts";
import { personWideStatuses, type SubscriberStatus } from "./memberships/status.ts";
import {
  findMember,
  findMemberByEmail,
  lockSubscriber,
  lockSubscriberByEmail,
  updateSubscriber,
} from "./store.ts";
import { eventOfChange, type OnSubscriberEvent, subscriberEvent } from "./subscriber-events.ts";
import { type MemberChanges, type NewMemberInput, readEmail, readNameField } from "./subscriber-input.ts";
import type { Member, MemberWithWarnings } from "./subscriber-shapes.ts";

interface Dependencies extends StorageDeps {
  readonly db: Database;
  readonly onSubscriber: OnSubscriberEvent;
}

/**
 * Runs a transaction without side effects outside the database: it is repeated after a deadlock or serialization
 * failure.
 */
function inTransaction<Result>(db: Database, work: (tx: Queryable) => Promise<Result>): Promise<Result> {
  return db.transaction(work, { mayRepeat: true });
}

/** Identifies a membership. */
interface MemberKey {
  readonly workspaceId: WorkspaceId;
  readonly mailingListId: string;
  readonly subscriberId: string;
}

/**
 * Adds a person to a list. A person whom the workspace knows stays the same person: names and custom fields given
 * replace the stored ones, the others stay.
 * @throws ApiError VALIDATION_ERROR, NOT_FOUND (the list), CONFLICT when the person is on the list, whatever their
 * status
 */
export function addMember(
  deps: Dependencies,
  workspaceId: WorkspaceId,
  mailingListId: string,
  body: NewMemberInput,
  actorName: string,
): Promise<MemberWithWarnings> {
  const { db, clock, onSubscriber } = deps;
  const email = readEmail(body.email);
  const person = {
    email,
    first_name: readNameField("first_name", body.first_name ?? null),
    last_name: readNameField("last_name", body.last_name ?? null),
    source: readNameField("source", body.source ?? null) ?? "api",
    status: body.status ?? null,
  };
  const given = readObject(body.custom_fields ?? {});
  const add = async (tx: Queryable) => {
    const limit = await rowLimit(deps, tx, workspaceId, "subscribers");
    await lockMailingList(tx, workspaceId, mailingListId);
    await shareLockFieldTypes(tx, workspaceId);
    const known = await lockSubscriberByEmail(tx, workspaceId, email);
    const reader = await openValueReader(tx, workspaceId, mailingListId);
    const custom_fields = reader.join(given, known?.custom_fields ?? {});
    const now = clock.now();
    const { joined, created } = await insertMembers(tx, workspaceId, {
      mailingListId,
      people: relationOf({ ...person, custom_fields }),
      now,
      updateExisting: true,
      resubscribe: false,
    });
    if (joined === 0) throw new ApiError("CONFLICT", `${email} is on this list already`);
    if (known === undefined && created === 0) throw new AddedConcurrently();
    await requireRows(tx, workspaceId, limit, created);
    const member = await findMemberByEmail(tx, workspaceId, mailingListId, email);
    if (member === undefined) throw new Error(`${email} joined and is not on the list`);
    if (body.status !== undefined) {
      await suppressByStatus(tx, workspaceId, member, body.status, { createdBy: actorName, createdAt: now });
    }
    await onSubscriber(tx, subscriberEvent(workspaceId, created > 0 ? "created" : "updated", member, now));
    return withWarnings(tx, workspaceId, member);
  };
  return inTransaction(db, add).catch((fault: unknown) => {
    if (!(fault instanceof AddedConcurrently)) throw fault;
    return inTransaction(db, add);
  });
}

/**
 * Another transaction added the person after the lookup: their stored values are not known here, and the defaults of
 * this list would replace them. The addition is repeated.
 */
class AddedConcurrently extends Error {}

function relationOf(person: {
  readonly email: string;
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly source: string;
  readonly status: SubscriberStatus | null;
  readonly custom_fields: unknown;
}): Sql {
  return sql`(
    select ${newId()}::uuid as id, ${person.email}::text as email, ${person.first_name}::text as first_name,
      ${person.last_name}::text as last_name, ${person.source}::text as source, ${person.status}::text as status,
      ${JSON.stringify(person.custom_fields)}::jsonb as custom_fields)`;
}

async function openValueReader(
  tx: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<ValueReader> {
  const fields = await listFieldsInForce(tx, workspaceId, mailingListId);
  return valueReader(fields, await workspaceDates(tx, workspaceId, fields));
}

/** Changes a member; omitted fields stay. @throws ApiError VALIDATION_ERROR, NOT_FOUND */
export function changeMember(
  { db, clock, onSubscriber }: Dependencies,
  place: MemberKey,
  body: MemberChanges,
  actorName: string,
): Promise<MemberWithWarnings> {
  const { workspaceId, mailingListId, subscriberId } = place;
  const names = {
    ...(body.first_name !== undefined && { first_name: readNameField("first_name", body.first_name) }),
    ...(body.last_name !== undefined && { last_name: readNameField("last_name", body.last_name) }),
  };
  const given = body.custom_fields === undefined ? undefined : readObject(body.custom_fields);
  return inTransaction(db, async (tx) => {
    await lockMailingList(tx, workspaceId, mailingListId);
    if (given !== undefined) await shareLockFieldTypes(tx, workspaceId);
    const person = await lockSubscriber(tx, workspaceId, subscriberId);
    const before = await requireMember(tx, place);
    if (person === undefined) throw new Error(`membership without the person ${subscriberId}`);
    if (body.email !== undefined && readEmail(body.email) !== person.email) {
      throw invalid({
        field: "email",
        message: "email cannot change; add the new address and remove this one",
      });
    }
    if (given !== undefined || body.first_name !== undefined || body.last_name !== undefined) {
      const custom_fields =
        given === undefined
          ? person.custom_fields
          : (await openValueReader(tx, workspaceId, mailingListId)).change(given, person.custom_fields);
      await updateSubscriber(tx, workspaceId, { ...person, ...names, custom_fields }, clock.now());
    }
    const now = clock.now();
    const after =
      body.status === undefined
        ? await requireMember(tx, place)
        : await setMemberStatus(tx, place, body.status, { createdBy: actorName, createdAt: now });
    const event = eventOfChange(workspaceId, before, after, now);
    if (event !== undefined) await onSubscriber(tx, event);
    return withWarnings(tx, workspaceId, after);
  });
}

/** Sets the status of a member, from any status to any other. @throws ApiError NOT_FOUND */
export function setStatus(
  { db, clock, onSubscriber }: Dependencies,
  place: MemberKey,
  status: SubscriberStatus,
  actorName: string,
): Promise<MemberWithWarnings> {
  return inTransaction(db, async (tx) => {
    await lockMailingList(tx, place.workspaceId, place.mailingListId);
    // Concurrent changes of one person are serialized, so that their events come in order.
    await lockSubscriber(tx, place.workspaceId, place.subscriberId);
    const before = await requireMember(tx, place);
    const now = clock.now();
    const after = await setMemberStatus(tx, place, status, { createdBy: actorName, createdAt: now });
    const event = eventOfChange(place.workspaceId, before, after, now);
    if (event !== undefined) await onSubscriber(tx, event);
    return withWarnings(tx, place.workspaceId, after);
  });
}

/** Adds the reasons why mail of this list does not reach the member. */
async function withWarnings(
  tx: Queryable,
  workspaceId: WorkspaceId,
  member: Member,
): Promise<MemberWithWarnings> {
  const { email: address, mailing_list_id: mailingListId } = member;
  const personWide = personWideStatuses.filter((status) => status === member.status);
  const recipient = { workspaceId, address, domain: domainOf(address), mailingListId };
  const [suppression] = await findSuppressions(tx, [recipient]);
  return { ...member, warnings: suppression === undefined ? personWide : [...personWide, "suppressed"] };
}

/**
 * Sets the status. Bounced and complained also suppress the address, which stays suppressed whatever status follows.
 */
async function setMemberStatus(
  tx: Queryable,
  place: MemberKey,
  status: SubscriberStatus,
  origin: EntryOrigin,
): Promise<Member> {
  const { workspaceId } = place;
  await updateStatuses(tx, workspaceId, statusMove(place, status), origin.createdAt);
  const member = await requireMember(tx, place);
  await suppressByStatus(tx, workspaceId, member, status, origin);
  return member;
}

async function suppressByStatus(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { email: address }: Member,
  status: SubscriberStatus,
  origin: EntryOrigin,
): Promise<void> {
  const suppressing = personWideStatuses.find((one) => one === status);
  if (suppressing !== undefined)
    await suppressPerson(tx, workspaceId, { address, status: suppressing }, origin);
}

/** @throws ApiError NOT_FOUND */
export async function removeMember({ db, clock }: Dependencies, place: MemberKey): Promise<void> {
  const { workspaceId, mailingListId, subscriberId } = place;
  await inTransaction(db, async (tx) => {
    await lockMailingList(tx, workspaceId, mailingListId);
    const removed = await removeMembers(tx, workspaceId, mailingListId, [subscriberId], clock.now());
    if (removed === 0) throw notFound("Subscriber");
  });
}

const statusMove = ({ mailingListId, subscriberId }: MemberKey, status: SubscriberStatus) => sql`
  select ${mailingListId}::uuid as mailing_list_id, ${subscriberId}::uuid as subscriber_id, ${status}::text as status`;

/** @throws ApiError NOT_FOUND */
async function requireMember(db: Queryable, place: MemberKey): Promise<Member> {
  return required(
    await findMember(db, place.workspaceId, place.mailingListId, place.subscriberId),
    "Subscriber",
  );
}
