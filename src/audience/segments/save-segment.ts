/** Creates, changes and deletes segments. */

import { lockMailingList } from "#audience/mailing-lists/store.ts";
import type { ObjectUse, UserRow } from "#audience/uses/used-by.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { requireBelowRowLimitUnderLock } from "#platform/database/row-limit-store.ts";
import { ApiError, required } from "#platform/errors.ts";
import { isEmptyChange } from "#platform/http/request/known-fields.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { readName } from "#workspace/read-display-name.ts";
import { checkConditions } from "./conditions/check-conditions.ts";
import { countSaved } from "./member-counts.ts";
import { type NewSegment, type Segment, SegmentChanges, segmentsResource } from "./segment.ts";
import { listSegmentsWithSegments } from "./segments-using-field-store.ts";
import {
  findSegment,
  insertSegment,
  lockReferences,
  lockSegment,
  removeSegment,
  segmentRoom,
  updateSegment,
} from "./store.ts";

/** A kind of users of segments, by the id of the segment. Its lists are read in the transaction that has locked it. */
export interface SegmentUse extends ObjectUse<string> {
  /** The start of the refusal: `The campaign "June"`. */
  called(user: UserRow): string;
}

/** Copies the name of a segment to what refers to it, before it is deleted. */
export type KeepSegmentName = (tx: Queryable, workspaceId: WorkspaceId, segmentId: string) => Promise<void>;

export interface SegmentKey {
  readonly workspaceId: WorkspaceId;
  readonly mailingListId: string;
  readonly segmentId: string;
}

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
  /** Other users of segments. */
  readonly uses: readonly SegmentUse[];
}

/** @throws ApiError NOT_FOUND, VALIDATION_ERROR, BAD_REQUEST when the workspace has too many segments */
export async function createSegment(
  { db, clock }: Dependencies,
  workspaceId: WorkspaceId,
  mailingListId: string,
  body: NewSegment,
): Promise<Segment> {
  const now = clock.now();
  const saved = await db.transaction(async (tx) => {
    await lockMailingList(tx, workspaceId, mailingListId);
    await lockReferences(tx, workspaceId);
    await requireBelowRowLimitUnderLock(tx, workspaceId, segmentRoom);
    const place = { workspaceId, mailingListId, segmentId: newId() };
    await insertSegment(
      tx,
      workspaceId,
      {
        id: place.segmentId,
        mailing_list_id: mailingListId,
        name: readName(body.name),
        description: body.description ?? "",
        is_active: body.is_active ?? false,
        ...(await checkConditions(tx, workspaceId, mailingListId, body.conditions, now, place.segmentId)),
      },
      now,
    );
    return requireSegment(tx, place);
  });
  return countSaved(db, workspaceId, saved, now);
}

/** Changes a segment; omitted fields stay. @throws ApiError NOT_FOUND, VALIDATION_ERROR */
export async function changeSegment(
  { db, clock }: Dependencies,
  place: SegmentKey,
  body: SegmentChanges,
): Promise<Segment> {
  const { workspaceId, mailingListId, segmentId } = place;
  const now = clock.now();
  const saved = await db.transaction(async (tx) => {
    await lockReferences(tx, workspaceId);
    const held = required(await lockSegment(tx, workspaceId, mailingListId, segmentId, "change"), "Segment");
    if (isEmptyChange(SegmentChanges, body)) return requireSegment(tx, place);
    const { conditions, name = held.name, description = held.description, is_active = held.is_active } = body;
    await updateSegment(
      tx,
      workspaceId,
      { id: segmentId, name: readName(name), description, is_active },
      conditions && (await checkConditions(tx, workspaceId, mailingListId, conditions, now, segmentId)),
      now,
    );
    return requireSegment(tx, place);
  });
  return countSaved(db, workspaceId, saved, now);
}

/** @throws ApiError NOT_FOUND, CONFLICT while something uses it */
export async function deleteSegment(
  { db, uses, keepName }: Dependencies & { readonly keepName: KeepSegmentName },
  place: SegmentKey,
): Promise<void> {
  const { workspaceId, mailingListId, segmentId } = place;
  await db.transaction(async (tx) => {
    await lockReferences(tx, workspaceId);
    required(await lockSegment(tx, workspaceId, mailingListId, segmentId, "removal"), "Segment");
    for (const use of [usedByOtherSegments, ...uses]) {
      const [user] = await use.list(tx, workspaceId, [segmentId]);
      if (user !== undefined) throw new ApiError("CONFLICT", `${use.called(user)} uses this segment`);
    }
    await keepName(tx, workspaceId, segmentId);
    await removeSegment(tx, workspaceId, segmentId);
  });
}

export const usedByOtherSegments: SegmentUse = {
  kind: "segment",
  noun: segmentsResource,
  called: () => "Another segment",
  list: listSegmentsWithSegments,
};

/** @throws ApiError NOT_FOUND */
export async function requireSegment(
  db: Queryable,
  { workspaceId, mailingListId, segmentId }: SegmentKey,
): Promise<Segment> {
  return required(await findSegment(db, workspaceId, mailingListId, segmentId), "Segment");
}
