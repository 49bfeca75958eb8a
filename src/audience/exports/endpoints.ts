/** Exports of the subscribers of a list to a CSV file. */

import { type Static, Type } from "typebox";
import { listFieldsInForce } from "#audience/custom-fields/store.ts";
import { mailingLists } from "#audience/mailing-lists/permission.ts";
import { requireMailingList } from "#audience/mailing-lists/store.ts";
import { findSegment } from "#audience/segments/store.ts";
import { criteriaInBody, criteriaOf } from "#audience/subscribers/criteria-in-body.ts";
import { subscriberStatuses } from "#audience/subscribers/memberships/status.ts";
import { subscribers } from "#audience/subscribers/permission.ts";
import { readPersonFilter } from "#audience/subscribers/person-filter.ts";
import type { Database } from "#platform/database/pool.ts";
import { invalid } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { JobLabel, JobStarted, requirePlace, startJob } from "#platform/jobs/start-or-cancel-job.ts";
import { described, omittable } from "#platform/shapes.ts";
import { requireBytes, type StorageDeps } from "#workspace/billing/storage-limit.ts";
import { EXPORT_JOB, type ExportInput } from "./export-job.ts";

const MOST_FIELDS = 500;

const MemberFilter = Type.Object(criteriaInBody, {
  $id: "MemberFilter",
  description:
    "The filters of `listSubscribers` besides status and search; `joined_from` and `joined_to` are about the list.",
  // A misspelt filter would be ignored, and the file have more people than were meant.
  additionalProperties: false,
});

const ExportRequest = Type.Object(
  {
    status: omittable(Type.Enum([...subscriberStatuses], { description: "Only those in this state." })),
    search: omittable(Type.String({ maxLength: 200, description: "Only those whom this search finds." })),
    filter: omittable(described(MemberFilter, "Only those who meet all conditions of this filter.")),
    segment_id: omittable(
      Type.String({ format: "uuid", description: "Only those in this segment of the list." }),
    ),
    fields: omittable(
      Type.Array(Type.String({ maxLength: 100 }), {
        maxItems: MOST_FIELDS,
        description: "Custom fields by name, as columns behind the others; all of them when omitted.",
      }),
    ),
    format: omittable(Type.Enum(["csv"], { description: "The format of the file; only `csv` for now." })),
    label: JobLabel,
  },
  { $id: "SubscriberExport" },
);

export function exportEndpoints(deps: StorageDeps & { readonly db: Database }): Endpoint[] {
  const { db } = deps;
  const needs = need(subscribers, "write");
  return [
    endpoint({
      id: "exportSubscribers",
      method: "POST",
      path: "/mailing-lists/{id}/subscribers/export-async",
      mayTakeLong: "reading",
      summary: "Export subscribers to a CSV file, in the background",
      description:
        "Starts a background job and answers 202 with its id. Follow it at `GET /jobs/{job_id}`; when it is completed, `GET /jobs/{job_id}/download` has the file, for seven days. `status`, `search` and `filter` are the filters of `listSubscribers`: all that are given have to be met.",
      needs,
      confirmed: true,
      body: ExportRequest,
      bodyMayBeAbsent: true,
      answer: JobStarted,
      status: 202,
      message: "The export has started",
      errors: ["CONFLICT", "PLAN_LIMIT_REACHED"],
      async handle({ caller: { workspaceId, actor }, params, body }) {
        const { name } = await requireMailingList(db, workspaceId, params.id);
        const input = await readRequest(db, workspaceId, params.id, body);
        return db.transaction(async (tx) => {
          await requirePlace(tx, workspaceId, EXPORT_JOB, "exports");
          await requireBytes(deps, tx, workspaceId, 1);
          const resource = { kind: mailingLists.name, id: params.id, name };
          const origin = { actor, label: body.label, resource };
          return startJob(tx, workspaceId, { type: EXPORT_JOB, needs, input, origin });
        });
      },
    }),
  ];
}

/** Columns that every export has: naming them in `fields` changes nothing. */
const usual = new Set(["email", "first_name", "last_name", "status", "source", "subscribed_at"]);

/** @throws ApiError VALIDATION_ERROR for a segment or a field that the list does not have */
async function readRequest(
  db: Database,
  workspaceId: WorkspaceId,
  mailingListId: string,
  body: Static<typeof ExportRequest>,
): Promise<ExportInput> {
  const { status = null, search = null, segment_id = null, fields = null } = body;
  const isKnown =
    segment_id === null || (await findSegment(db, workspaceId, mailingListId, segment_id)) !== undefined;
  if (!isKnown) throw invalid({ field: "segment_id", message: "segment_id is no segment of this list" });
  const inForce = await listFieldsInForce(db, workspaceId, mailingListId);
  const names = new Set(inForce.map(({ field_name }) => field_name));
  const wanted = fields?.filter((name) => names.has(name) || !usual.has(name)) ?? null;
  const stray = wanted?.findIndex((name) => !names.has(name)) ?? -1;
  if (stray >= 0) {
    const field = `fields[${fields?.indexOf(wanted?.[stray] ?? "")}]`;
    throw invalid({ field, message: `${field} is no custom field of this list` });
  }
  return {
    mailing_list_id: mailingListId,
    status,
    filter: await readPersonFilter(db, workspaceId, criteriaOf(body.filter ?? {}, "filter."), "filter."),
    search: search?.trim() || null,
    segment_id,
    fields: wanted,
  };
}
