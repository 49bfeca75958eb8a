/** Complaints over HTTP: one row for every message whose recipient reported it as unwanted. */
import { Type } from "typebox";
import { messageSources } from "#messages/message/states.ts";
import { reports } from "#messages/resource.ts";
import type { Database } from "#platform/database/pool.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { pageFields } from "#platform/http/request/query.ts";
import { offsetOf, pageOf, pagination } from "#platform/http/response/paging.ts";
import { Id, nullable, Timestamp } from "#platform/shapes.ts";
import { totalsEver } from "#reporting/counters/origins-store.ts";
import { listComplaints } from "./store.ts";

const Complaint = Type.Object(
  {
    id: Id,
    message_id: Id,
    email: Type.String({ description: "The recipient." }),
    domain: Type.String(),
    feedback_type: Type.String({ description: "As the report says (RFC 5965): `abuse`, `fraud`, ..." }),
    provider: nullable(Type.String({ description: "Who sent the report." })),
    source: Type.Enum([...messageSources]),
    campaign_id: nullable(Id),
    origin_name: Type.String({ description: "Name of the campaign, API key or other origin." }),
    created_at: Type.Unsafe<Date>({ ...Timestamp, description: "When it was complained about." }),
  },
  { $id: "Complaint" },
);

export function complaintEndpoints({ db }: { db: Database }): Endpoint[] {
  return [
    endpoint({
      id: "listComplaints",
      method: "GET",
      path: "/complaints",
      mayTakeLong: "reading",
      summary: "Complaints of all time, newest first",
      needs: need(reports, "read"),
      query: pageFields(),
      answer: pageOf("complaints", Complaint),
      message: "Complaints",
      async handle({ caller, query }) {
        const { complaints: total } = await totalsEver(db, caller.workspaceId);
        const page = { limit: query.limit, offset: offsetOf(query) };
        const complaints = page.offset < total ? await listComplaints(db, caller.workspaceId, page) : [];
        return { complaints, pagination: pagination(query, total) };
      },
    }),
  ];
}
