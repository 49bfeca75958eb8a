/** Bounces and complaints over HTTP: one row for each message that bounced or was complained about, and a dashboard. */
import { Readable } from "node:stream";
import { Type } from "typebox";
import { messageSources } from "#messages/message/status.ts";
import { reports } from "#messages/permission.ts";
import type { Clock } from "#platform/clock.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { ListPage } from "#platform/http/request/list-page.ts";
import { cursorFields, lenientWindowField } from "#platform/http/request/query.ts";
import { FileAnswer, fileShape } from "#platform/http/response/file-answer.ts";
import { pageOf } from "#platform/http/response/pagination.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { described, Id, nullable, Timestamp } from "#platform/shapes.ts";
import { totalsEver } from "#reporting/counters/by-origin-store.ts";
import { bouncesOf } from "#reporting/counters/rates.ts";
import { BouncesComplaints, bouncesComplaintsOf } from "./dashboard.ts";
import {
  bounceFilterFields,
  bounceFilterOf,
  complaintFilterFields,
  complaintFilterOf,
  filterTextsOf,
} from "./record-filters.ts";
import { bounceColumns, complaintColumns, MOST_RECORDS_EXPORTED, recordLines } from "./records-csv.ts";
import {
  countBounces,
  countComplaints,
  listBounces,
  listComplaints,
  MOST_RECORDS_COUNTED,
  type RecordFilter,
} from "./records-store.ts";

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

export function outcomeReportEndpoints({ db, clock }: { db: Queryable; clock: Clock }): Endpoint[] {
  return [
    endpoint({
      id: "listBounces",
      method: "GET",
      path: "/bounces",
      mayTakeLong: "reading",
      summary: "Bounces, newest first",
      description:
        "Every bounce with the server's reply and its category, of all time unless filters say otherwise. What filters find is counted up to 10,000; beyond that `pagination.total_is_exact` is false. For long lists follow `pagination.next_cursor`. Addresses of hard bounces are suppressed automatically.",
      needs: need(reports, "read"),
      isEveryday: true,
      query: { ...cursorFields(), ...bounceFilterFields },
      answer: pageOf("bounces", Bounce),
      message: "Bounces",
      async handle({ caller: { workspaceId }, query }) {
        const filter = bounceFilterOf(query);
        const { rows, pagination } = await pageOfRecords("listBounces", workspaceId, query, filter, {
          countAll: async () => bouncesOf(await totalsEver(db, workspaceId)),
          count: () => countBounces(db, workspaceId, filter),
          list: (page) => listBounces(db, workspaceId, filter, page),
        });
        return { bounces: rows, pagination };
      },
    }),
    endpoint({
      id: "exportBounces",
      method: "GET",
      path: "/bounces/export",
      mayTakeLong: "reading",
      summary: `Download bounces as CSV, newest first; at most ${MOST_RECORDS_EXPORTED.toLocaleString("en")} rows`,
      description: "Takes the filters of `listBounces`. Beyond the limit, choose a shorter time.",
      needs: need(reports, "read"),
      query: bounceFilterFields,
      answer: fileShape("text/csv", "One row a bounce, newest first, with the columns of `listBounces`."),
      async handle({ caller, query }) {
        const filter = bounceFilterOf(query);
        const lines = recordLines(bounceColumns, (page) => listBounces(db, caller.workspaceId, filter, page));
        return new FileAnswer(`bounces-${dayOf(clock)}.csv`, Readable.from(lines));
      },
    }),
    endpoint({
      id: "listComplaints",
      method: "GET",
      path: "/complaints",
      mayTakeLong: "reading",
      summary: "Complaints, newest first",
      description:
        "Every report of spam, of all time unless filters say otherwise. What filters find is counted up to 10,000; beyond that `pagination.total_is_exact` is false. People who complain get no more mail, automatically.",
      needs: need(reports, "read"),
      query: { ...cursorFields(), ...complaintFilterFields },
      answer: pageOf("complaints", Complaint),
      message: "Complaints",
      async handle({ caller: { workspaceId }, query }) {
        const filter = complaintFilterOf(query);
        const { rows, pagination } = await pageOfRecords("listComplaints", workspaceId, query, filter, {
          countAll: async () => (await totalsEver(db, workspaceId)).complaints,
          count: () => countComplaints(db, workspaceId, filter),
          list: (page) => listComplaints(db, workspaceId, filter, page),
        });
        return { complaints: rows, pagination };
      },
    }),
    endpoint({
      id: "exportComplaints",
      method: "GET",
      path: "/complaints/export",
      mayTakeLong: "reading",
      summary: `Download complaints as CSV, newest first; at most ${MOST_RECORDS_EXPORTED.toLocaleString("en")} rows`,
      description: "Takes the filters of `listComplaints`. Beyond the limit, choose a shorter time.",
      needs: need(reports, "read"),
      query: complaintFilterFields,
      answer: fileShape(
        "text/csv",
        "One row a complaint, newest first, with the columns of `listComplaints`.",
      ),
      async handle({ caller, query }) {
        const filter = complaintFilterOf(query);
        const lines = recordLines(complaintColumns, (page) =>
          listComplaints(db, caller.workspaceId, filter, page),
        );
        return new FileAnswer(`complaints-${dayOf(clock)}.csv`, Readable.from(lines));
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
      query: { window_days: lenientWindowField(MOST_DAYS) },
      answer: BouncesComplaints,
      message: "Bounces and complaints",
      handle: ({ caller, query }) => bouncesComplaintsOf(db, caller, query.window_days, clock.now()),
    }),
  ];
}

const dayOf = (clock: Clock) => clock.now().toISOString().slice(0, 10);

interface RecordReader<Row> {
  /** All of the workspace. */
  readonly countAll: () => Promise<number>;
  readonly count: () => Promise<number>;
  readonly list: (page: Page) => Promise<Row[]>;
}

/** A page of bounces or complaints. Totals without a filter are read from counters. */
async function pageOfRecords<Row extends { readonly id: string; readonly created_at: Date }>(
  operationId: string,
  workspaceId: WorkspaceId,
  query: { readonly page: number; readonly limit: number; readonly after: string | undefined },
  filter: RecordFilter<string>,
  { countAll, count, list }: RecordReader<Row>,
) {
  const texts = filterTextsOf(filter);
  const walk = new ListPage(query, operationId, workspaceId, ...texts);
  const counted = texts.length === 0 ? await countAll() : await count();
  const isTotalExact = texts.length === 0 || counted <= MOST_RECORDS_COUNTED;
  const total = isTotalExact ? counted : MOST_RECORDS_COUNTED;
  const isBeyond = isTotalExact && walk.page.offset >= total;
  return walk.shown(isBeyond ? [] : await list(walk.page), total, ({ id }) => id, {
    keyOf: ({ created_at }) => created_at.toISOString(),
    ...(texts.length > 0 && { isTotalExact }),
  });
}
