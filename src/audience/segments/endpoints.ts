/** Endpoints of segments: saved conditions on the people of a list, and the people who meet them. */
import { Type } from "typebox";
import { requireKnownList, requireMailingList } from "#audience/mailing-lists/store.ts";
import { subscribers } from "#audience/subscribers/permission.ts";
import { listMembers } from "#audience/subscribers/store.ts";
import { Member } from "#audience/subscribers/subscriber-shapes.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { requirePermissions } from "#platform/http/authenticate.ts";
import { type Endpoint, endpoint, need, permissionOf, type Resource } from "#platform/http/endpoint.ts";
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
} from "./save-segment.ts";
import {
  NewSegment,
  Segment,
  SegmentChanges,
  SegmentOfSubscriber,
  SegmentPreview,
  SegmentPreviewInput,
} from "./segment.ts";
import { countSegments, listSegments, type SegmentFilter } from "./store.ts";

const segments: Resource = { name: "segments", label: "Segments", group: "Audience" };

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
      needs: need(segments, "read"),
      query: {
        ...pageFields(),
        search: textField(200, "A part of the name."),
        list_id: idField("Only those of this mailing list."),
      },
      answer: pageOf("segments", Segment),
      message: "Segments",
      async handle({ caller: { workspaceId }, query }) {
        const mailingListId = query.list_id;
        if (mailingListId !== undefined) await requireKnownList(db, workspaceId, mailingListId);
        return pageOfSegments(deps, workspaceId, { mailingListId, search: query.search }, query);
      },
    }),
    endpoint({
      id: "listSegmentFields",
      method: "GET",
      path: "/segments/fields",
      summary: "The fields that rules may use, with their operators, values and limits",
      needs: need(segments, "read"),
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
      needs: need(segments, "read"),
      query: { ...pageFields(), search: textField(200, "A part of the name.") },
      answer: pageOf("segments", Segment),
      message: "Segments",
      async handle({ caller: { workspaceId }, params, query }) {
        await requireMailingList(db, workspaceId, params.id);
        return pageOfSegments(deps, workspaceId, { mailingListId: params.id, search: query.search }, query);
      },
    }),
    endpoint({
      id: "createSegment",
      method: "POST",
      path: ofList,
      mayTakeLong: "reading",
      summary: "Save conditions as a segment of a list",
      needs: need(segments, "write"),
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
      needs: need(segments, "read"),
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
      needs: need(segments, "read"),
      answer: Segment,
      message: "Segment",
      async handle({ caller, params }) {
        const segment = await requireSegment(db, placeOf(caller.workspaceId, params));
        const [counted = segment] = await withFreshCounts(db, caller.workspaceId, [segment], clock.now());
        return counted;
      },
    }),
    endpoint({
      id: "updateSegment",
      method: "PUT",
      path: one,
      mayTakeLong: "reading",
      summary: "Change a segment; omitted fields stay",
      needs: need(segments, "write"),
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
      needs: need(segments, "write"),
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
      needs: need(segments, "read"),
      answer: Type.Array(SegmentOfSubscriber),
      message: "Segments",
      errors: ["BAD_REQUEST"],
      handle: ({ caller, params }) => segmentsOfSubscriber(db, caller.workspaceId, params.id, clock.now()),
    }),
  ];
}

async function pageOfSegments(
  { db, clock }: Dependencies,
  workspaceId: WorkspaceId,
  filter: SegmentFilter,
  query: { readonly page: number; readonly limit: number },
) {
  const [total, found] = await Promise.all([
    countSegments(db, workspaceId, filter),
    listSegments(db, workspaceId, filter, { limit: query.limit, offset: offsetOf(query) }),
  ]);
  return {
    segments: await withFreshCounts(db, workspaceId, found, clock.now()),
    pagination: pagination(query, total),
  };
}

function placeOf(
  workspaceId: WorkspaceId,
  params: { readonly id: string; readonly segment_id: string },
): SegmentKey {
  return { workspaceId, mailingListId: params.id, segmentId: params.segment_id };
}
