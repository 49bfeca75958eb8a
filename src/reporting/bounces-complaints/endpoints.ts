/** Bounces and complaints over HTTP: one row for each message that bounced or was complained about, and a dashboard. */
import { Type } from "typebox";
import { messageSources } from "#messages/message/status.ts";
import { reports } from "#messages/permission.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { pageFields, windowField } from "#platform/http/request/query.ts";
import { offsetOf, pageOf, pagination } from "#platform/http/response/pagination.ts";
import { described, Id, nullable, Timestamp } from "#platform/shapes.ts";
import { totalsEver } from "#reporting/counters/by-origin-store.ts";
import { bouncesOf } from "#reporting/counters/rates.ts";
import { BouncesComplaints, bouncesComplaintsOf } from "./dashboard.ts";
import { listBounces, listComplaints } from "./records-store.ts";

/** The longest window of the dashboard. */
const MOST_DAYS = 365;

const Bounce = Type.Object(
  {
    id: described(Id, "Id of the bounce."),
    message_id: described(Id, "The message that bounced."),
    email: Type.String({ description: "The recipient." }),
    domain: Type.String({ description: "Domain of the recipient." }),
    bounce_type: Type.Enum(["hard", "soft", "block"], {
      description:
        "`hard`: the address is at fault; `soft`: its mailbox or system; `block`: the server rejects this sender or the message.",
    }),
    category: Type.String({
      description: "Cause of the bounce: `NoEmail`, `MailboxFull`, `Reputation`, ...",
    }),
    smtp_code: nullable(Type.Integer({ description: "Of the reply that rejected the message." })),
    enhanced_code: nullable(Type.String({ description: "Enhanced status code (RFC 3463)." })),
    error_message: Type.String({ description: "The reply of the server." }),
    source: Type.Enum([...messageSources], { description: "What the message was sent by." }),
    campaign_id: nullable(described(Id, "The campaign; null if it was not mail of one.")),
    origin_name: Type.String({ description: "Name of the campaign, API key or other origin." }),
    created_at: Type.Unsafe<Date>({ ...Timestamp, description: "When it bounced." }),
  },
  { $id: "Bounce" },
);

const Complaint = Type.Object(
  {
    id: described(Id, "Id of the complaint."),
    message_id: described(Id, "The message that was reported."),
    email: Type.String({ description: "The recipient." }),
    domain: Type.String({ description: "Domain of the recipient." }),
    feedback_type: Type.String({ description: "As the report says (RFC 5965): `abuse`, `fraud`, ..." }),
    provider: nullable(Type.String({ description: "The sender of the report." })),
    source: Type.Enum([...messageSources], { description: "What the message was sent by." }),
    campaign_id: nullable(described(Id, "The campaign; null if it was not mail of one.")),
    origin_name: Type.String({ description: "Name of the campaign, API key or other origin." }),
    created_at: Type.Unsafe<Date>({ ...Timestamp, description: "When it was complained about." }),
  },
  { $id: "Complaint" },
);

export function outcomeReportEndpoints({ db, clock }: { db: Database; clock: Clock }): Endpoint[] {
  return [
    endpoint({
      id: "listBounces",
      method: "GET",
      path: "/bounces",
      mayTakeLong: "reading",
      summary: "Bounces of all time, newest first",
      description:
        "Every bounce with the server's reply and its category. Addresses of hard bounces are suppressed automatically.",
      needs: need(reports, "read"),
      isEveryday: true,
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
    endpoint({
      id: "listComplaints",
      method: "GET",
      path: "/complaints",
      mayTakeLong: "reading",
      summary: "Complaints of all time, newest first",
      description: "Every report of spam. People who complain get no more mail, automatically.",
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
    endpoint({
      id: "getBouncesComplaints",
      method: "GET",
      path: "/bounces-complaints/dashboard",
      mayTakeLong: "reading",
      summary: "Bounces and complaints at a glance: totals, rates, trends, where they come from",
      description: "The figures for a page about bounces and complaints, in one call.",
      needs: need(reports, "read"),
      query: { window_days: windowField(MOST_DAYS) },
      answer: BouncesComplaints,
      message: "Bounces and complaints",
      handle: ({ caller, query }) => bouncesComplaintsOf(db, caller, query.window_days, clock.now()),
    }),
  ];
}
