/** Endpoints of segments: saved conditions on the people of a list, and the people who meet them. */
import { Type } from "typebox";
import { requireKnownList, requireMailingList } from "#audience/mailing-lists/store.ts";
import { subscribers } from "#audience/subscribers/permission.ts";
import { listMembers } from "#audience/subscribers/store.ts";
import { Member } from "#audience/subscribers/subscriber-shapes.ts";
import { findUsers } from "#audience/uses/used-by.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { requirePermissions } from "#platform/http/authenticate.ts";
import { type Endpoint, endpoint, need, permissionOf } from "#platform/http/endpoint.ts";
import { ListPage } from "#platform/http/request/list-page.ts";
import { cursorFields, idField, pageFields, textField } from "#platform/http/request/query.ts";
import { offsetOf, pageOf, pagination } from "#platform/http/response/pagination.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { Deleted } from "#platform/shapes.ts";
import { checkConditions } from "./conditions/check-conditions.ts";
import { withFreshCounts } from "./member-counts.ts";
import { createMemberPages } from "./member-pages.ts";
import { segmentsOfSubscriber } from "./members-as-relation.ts";
import { previewSegmentation } from "./preview-segmentation.ts";
import { describeRuleFields, RuleFields } from "./rule-fields.ts";
import {
  changeSegment,
  createSegment,
  deleteSegment,
  type KeepSegmentName,
  requireSegment,
  type SegmentKey,
  type SegmentUse,
  usedByOtherSegments,
} from "./save-segment.ts";
import {
  NewSegment,
  Segment,
  SegmentChanges,
  SegmentInUse,
  SegmentOfSubscriber,
  SegmentPreview,
  SegmentPreviewInput,
  segmentsResource,
} from "./segment.ts";
import { countSegments, listSegments, type SegmentFilter } from "./store.ts";

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
  /** Other users of segments, which keep a segment from being deleted. */
  readonly uses: readonly SegmentUse[];
  readonly keepName: KeepSegmentName;
}

export function segmentEndpoints(deps: Dependencies): Endpoint[] {
  const { db, clock } = deps;
  const memberPages = createMemberPages(db, clock);
  const ofList = "/mailing-lists/{id}/segments";
  const one = "/mailing-lists/{id}/segments/{segment_id}";
  return [
    endpoint({
      id: "listSegments",
      method: "GET",
      path: "/segments",
      summary: "Segments of all lists, newest first",
      description:
        "The segments of all mailing lists, for pages that choose one. Counts may be some minutes old; `counted_at` says when.",
      needs: need(segmentsResource, "read"),
      isEveryday: true,
      query: {
        ...pageFields(),
        search: textField(200, "A part of the name."),
        list_id: idField("Only those of this mailing list."),
      },
      answer: pageOf("segments", SegmentInUse),
      message: "Segments",
      async handle({ caller, query }) {
        const { workspaceId } = caller;
        const mailingListId = query.list_id;
        if (mailingListId !== undefined) await requireKnownList(db, workspaceId, mailingListId);
        return pageOfSegments(deps, caller, { mailingListId, search: query.search }, query);
      },
    }),
    endpoint({
      id: "listSegmentFields",
      method: "GET",
      path: "/segments/fields",
      summary: "The fields that rules may use, with their operators, values and limits",
      description:
        "Made from the definitions that evaluate segments, so that a rule editor needs no list of its own. With `list_id` it has the custom fields of the list.",
      needs: need(segmentsResource, "read"),
      query: {
        list_id: idField(
          "Also the custom fields of this mailing list; without it, only the global ones that all lists have.",
        ),
      },
      answer: RuleFields,
      message: "Fields of rules",
      async handle({ caller: { workspaceId }, query }) {
        const mailingListId = query.list_id ?? null;
        if (mailingListId !== null) await requireKnownList(db, workspaceId, mailingListId);
        return describeRuleFields(db, workspaceId, mailingListId);
      },
    }),
    endpoint({
      id: "listSegmentsOfList",
      method: "GET",
      path: ofList,
      summary: "The segments of a list, newest first",
      description:
        "The segments that select people of this list. Counts may be some minutes old; `counted_at` says when.",
      needs: need(segmentsResource, "read"),
      query: { ...pageFields(), search: textField(200, "A part of the name.") },
      answer: pageOf("segments", SegmentInUse),
      message: "Segments",
      async handle({ caller, params, query }) {
        await requireMailingList(db, caller.workspaceId, params.id);
        return pageOfSegments(deps, caller, { mailingListId: params.id, search: query.search }, query);
      },
    }),
    endpoint({
      id: "createSegment",
      method: "POST",
      path: ofList,
      mayTakeLong: "reading",
      summary: "Save conditions as a segment of a list",
      description:
        "A segment stores conditions, not people: people who meet them at the time of a campaign get it. Only active members count, unless a rule names `status`. Try conditions with `POST /mailing-lists/{id}/segments/preview` first.",
      needs: need(segmentsResource, "write"),
      body: NewSegment,
      answer: Segment,
      status: 201,
      message: "Segment created",
      errors: ["BAD_REQUEST"],
      handle: ({ caller, params, body }) => createSegment(deps, caller.workspaceId, params.id, body),
    }),
    endpoint({
      id: "previewSegment",
      method: "POST",
      path: "/mailing-lists/{id}/segments/preview",
      mayTakeLong: "reading",
      summary: "Count the people who meet conditions, without saving them",
      description:
        "Counts now and saves nothing. Use it on a page that edits conditions. A count that takes longer than five seconds is answered 400.",
      needs: need(segmentsResource, "read"),
      unaudited: "only reads",
      body: SegmentPreviewInput,
      answer: SegmentPreview,
      message: ({ subscriber_count: count }) => (count === 1 ? "1 subscriber" : `${count} subscribers`),
      errors: ["BAD_REQUEST"],
      async handle({ caller, params, body }) {
        const { workspaceId } = caller;
        if (body.samples) requirePermissions(caller, [permissionOf(need(subscribers, "read"))]);
        await requireMailingList(db, workspaceId, params.id);
        const now = clock.now();
        const { segmentation } = await checkConditions(db, workspaceId, params.id, body.conditions, now);
        return previewSegmentation(db, workspaceId, segmentation, body);
      },
    }),
    endpoint({
      id: "getSegment",
      method: "GET",
      path: one,
      summary: "One segment",
      description: "The segment with its conditions, a fresh count and what uses it.",
      needs: need(segmentsResource, "read"),
      answer: SegmentInUse,
      message: "Segment",
      async handle({ caller, params }) {
        const segment = await requireSegment(db, placeOf(caller.workspaceId, params));
        const [[counted = segment], used] = await Promise.all([
          withFreshCounts(db, caller.workspaceId, [segment], clock.now()),
          usersOf(deps, caller, [segment]),
        ]);
        return { ...counted, used_by: used(segment.id) };
      },
    }),
    endpoint({
      id: "updateSegment",
      method: "PUT",
      path: one,
      mayTakeLong: "reading",
      summary: "Change a segment; omitted fields stay",
      description:
        "New conditions hold for everything that uses the segment and has not chosen its recipients yet. A campaign that is being sent keeps its recipients.",
      needs: need(segmentsResource, "write"),
      body: SegmentChanges,
      answer: Segment,
      message: "Segment updated",
      handle: ({ caller, params, body }) => changeSegment(deps, placeOf(caller.workspaceId, params), body),
    }),
    endpoint({
      id: "deleteSegment",
      method: "DELETE",
      path: one,
      summary: "Delete a segment; its members do not change",
      description:
        "Refused (409) while something else, such as an unfinished campaign or another segment, uses it; the error names what does.",
      needs: need(segmentsResource, "write"),
      answer: Deleted,
      message: "Segment deleted",
      errors: ["CONFLICT"],
      async handle({ caller, params }) {
        await deleteSegment(deps, placeOf(caller.workspaceId, params));
        return { id: params.segment_id, deleted: true } as const;
      },
    }),
    endpoint({
      id: "listSegmentMembers",
      method: "GET",
      path: "/mailing-lists/{id}/segments/{segment_id}/subscribers",
      mayTakeLong: "reading",
      summary: "The subscribers in a segment now, newest person first",
      description: "Evaluates the conditions now. For long lists follow `pagination.next_cursor`.",
      needs: need(subscribers, "read"),
      query: {
        ...cursorFields(),
        search: textField(200, "As in the subscribers of a list. Finds 2,000 people at most."),
      },
      answer: pageOf("subscribers", Member),
      message: "Subscribers",
      errors: ["BAD_REQUEST"],
      async handle({ caller: { workspaceId }, params, query }) {
        const segment = await requireSegment(db, placeOf(workspaceId, params));
        const { search } = query;
        const walk = new ListPage(query, "listSegmentMembers", workspaceId, segment.id, search);
        const { ids, total } = await memberPages.find(workspaceId, segment, { search, ...walk.page });
        const { rows, pagination } = walk.shown(ids, total, (one) => one);
        return { subscribers: await listMembers(db, workspaceId, params.id, rows), pagination };
      },
    }),
    endpoint({
      id: "listSegmentsOfSubscriber",
      method: "GET",
      path: "/subscribers/{id}/segments",
      mayTakeLong: "reading",
      summary: "The segments that a person is in now",
      description:
        "Evaluates every segment of the workspace for this one person. Use it to explain why a person gets a campaign.",
      needs: need(segmentsResource, "read"),
      answer: Type.Array(SegmentOfSubscriber),
      message: "Segments",
      errors: ["BAD_REQUEST"],
      handle: ({ caller, params }) => segmentsOfSubscriber(db, caller.workspaceId, params.id, clock.now()),
    }),
  ];
}

async function pageOfSegments(
  deps: Dependencies,
  caller: Caller,
  filter: SegmentFilter,
  query: { readonly page: number; readonly limit: number },
) {
  const { db, clock } = deps;
  const { workspaceId } = caller;
  const [total, found] = await Promise.all([
    countSegments(db, workspaceId, filter),
    listSegments(db, workspaceId, filter, { limit: query.limit, offset: offsetOf(query) }),
  ]);
  const [counted, used] = await Promise.all([
    withFreshCounts(db, workspaceId, found, clock.now()),
    usersOf(deps, caller, found),
  ]);
  return {
    segments: counted.map((segment) => ({ ...segment, used_by: used(segment.id) })),
    pagination: pagination(query, total),
  };
}

function usersOf({ db, uses }: Dependencies, caller: Caller, segments: readonly Segment[]) {
  const ids = segments.map(({ id }) => id);
  return findUsers(db, caller.workspaceId, caller.permissions, ids, [usedByOtherSegments, ...uses]);
}

function placeOf(
  workspaceId: WorkspaceId,
  params: { readonly id: string; readonly segment_id: string },
): SegmentKey {
  return { workspaceId, mailingListId: params.id, segmentId: params.segment_id };
}
