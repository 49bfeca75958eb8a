/** Bounces over HTTP: one row for every message that bounced, at once or after it had been delivered. */
import { Type } from "typebox";
import { messageSources } from "#messages/message/states.ts";
import { reports } from "#messages/resource.ts";
import type { Database } from "#platform/database/pool.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { pageFields } from "#platform/http/request/query.ts";
import { offsetOf, pageOf, pagination } from "#platform/http/response/paging.ts";
import { Id, nullable, Timestamp } from "#platform/shapes.ts";
import { totalsEver } from "#reporting/counters/origins-store.ts";
import { bouncesOf } from "#reporting/rates.ts";
import { listBounces } from "./store.ts";

const Bounce = Type.Object(
  {
    id: Id,
    message_id: Id,
    email: Type.String({ description: "The recipient." }),
    domain: Type.String(),
    bounce_type: Type.Enum(["hard", "soft", "block"], {
      description:
        "`hard`: the address is at fault; `soft`: its mailbox or system; `block`: they refuse us or the message.",
    }),
    category: Type.String({ description: "What it was about: `NoEmail`, `MailboxFull`, `Reputation`, ..." }),
    smtp_code: nullable(Type.Integer({ description: "Of the deciding reply." })),
    enhanced_code: nullable(Type.String({ description: "Enhanced status code (RFC 3463)." })),
    error_message: Type.String({ description: "What the other side said." }),
    source: Type.Enum([...messageSources]),
    campaign_id: nullable(Id),
    origin_name: Type.String({ description: "Name of the campaign, API key or other origin." }),
    created_at: Type.Unsafe<Date>({ ...Timestamp, description: "When it bounced." }),
  },
  { $id: "Bounce" },
);

export function bounceEndpoints({ db }: { db: Database }): Endpoint[] {
  return [
    endpoint({
      id: "listBounces",
      method: "GET",
      path: "/bounces",
      mayTakeLong: "reading",
      summary: "Bounces of all time, newest first",
      needs: need(reports, "read"),
      query: pageFields(),
      answer: pageOf("bounces", Bounce),
      message: "Bounces",
      async handle({ caller, query }) {
        const total = bouncesOf(await totalsEver(db, caller.workspaceId));
        const page = { limit: query.limit, offset: offsetOf(query) };
        const bounces = page.offset < total ? await listBounces(db, caller.workspaceId, page) : [];
        return { bounces, pagination: pagination(query, total) };
      },
    }),
  ];
}
