/** Statistics of all time for each campaign, autoresponder, API key and SMTP credential. */
import { Type } from "typebox";
import type { Counts } from "#messages/counters/counters.ts";
import { reports } from "#messages/permission.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { fraction } from "#platform/fraction.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { pageFields } from "#platform/http/request/query.ts";
import { offsetOf, pageOf, pagination } from "#platform/http/response/pagination.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { described, Id, nullable, Timestamp } from "#platform/shapes.ts";
import { countsByOrigin, countsOfOrigins } from "#reporting/counters/by-origin-store.ts";
import { attemptedOf, deliveredOf } from "#reporting/counters/rates.ts";
import { findKeyNames, listAutoresponderOrigins, listCampaignOrigins } from "./store.ts";

const countFields = {
  total_messages: Type.Integer({ description: "Without those that were suppressed or cancelled." }),
  delivered_count: Type.Integer({ description: "Messages that a server accepted." }),
  failed_count: Type.Integer({ description: "Messages that failed for another reason than a bounce." }),
  bounced_count: Type.Integer({ description: "Messages that bounced." }),
};

const Rate = Type.Number({
  description: "Messages opened or clicked by people, per delivered message: 0 to 1.",
});
const engagementFields = {
  open_count: Type.Integer({ description: "By people, like `click_count`." }),
  click_count: Type.Integer({ description: "Clicks by people." }),
  open_rate: Rate,
  click_rate: Rate,
};

const IsDeleted = Type.Boolean({
  description: "Deleted, but listed because its messages are still counted.",
});

const CampaignStats = Type.Object(
  {
    id: described(Id, "Id of the campaign."),
    name: Type.String({ description: "Its name." }),
    status: Type.String({
      description: "Status of the campaign; `cancelled` if it was deleted before it was sent.",
    }),
    is_deleted: IsDeleted,
    sent_at: nullable(described(Timestamp, "When sending began, in UTC; null if it has not begun.")),
    ...countFields,
    ...engagementFields,
  },
  { $id: "CampaignStats" },
);

const AutoresponderStats = Type.Object(
  {
    id: described(Id, "Id of the autoresponder."),
    name: Type.String({ description: "Its name." }),
    status: Type.Enum(["active", "inactive"], { description: "Whether it runs." }),
    is_deleted: IsDeleted,
    ...countFields,
    ...engagementFields,
  },
  { $id: "AutoresponderStats" },
);

const KeyStats = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "Of the API key." }),
    name: Type.String({ description: "Also of a deleted key." }),
    ...countFields,
  },
  { $id: "KeyStats" },
);

export function channelReportEndpoints({ db }: { db: Queryable }): Endpoint[] {
  const needs = need(reports, "read");
  const query = pageFields();
  const message = "Sending statistics";
  return [
    endpoint({
      id: "listCampaignStats",
      method: "GET",
      path: "/stats/campaigns",
      mayTakeLong: "reading",
      summary: "Results of each campaign's messages, newest first",
      description: "For comparing campaigns. Deleted campaigns stay, with the name that they had.",
      needs,
      query,
      answer: pageOf("stats", CampaignStats),
      message,
      async handle({ caller: { workspaceId }, query }) {
        const page = { limit: query.limit, offset: offsetOf(query) };
        const { rows, total } = await listCampaignOrigins(db, workspaceId, page);
        return {
          stats: await withEngagement(db, workspaceId, "campaign", rows),
          pagination: pagination(query, total),
        };
      },
    }),
    endpoint({
      id: "listAutoresponderStats",
      method: "GET",
      path: "/stats/autoresponders",
      mayTakeLong: "reading",
      summary: "Results of each autoresponder's messages, newest first",
      description: "For comparing autoresponders. Deleted ones stay, with the name that they had.",
      needs,
      query,
      answer: pageOf("stats", AutoresponderStats),
      message,
      async handle({ caller: { workspaceId }, query }) {
        const page = { limit: query.limit, offset: offsetOf(query) };
        const { rows, total } = await listAutoresponderOrigins(db, workspaceId, page);
        return {
          stats: await withEngagement(db, workspaceId, "autoresponder", rows),
          pagination: pagination(query, total),
        };
      },
    }),
    ...(["smtp", "api"] as const).map((source) =>
      endpoint({
        id: source === "api" ? "listApiStats" : "listSmtpStats",
        method: "GET",
        path: `/stats/${source}`,
        summary: `Results of the messages that each API key sent ${source === "api" ? "over the API" : "by SMTP submission"}`,
        description:
          "For comparing keys, and for finding the program that sends most. Deleted keys stay, under the name `Deleted key` if theirs is no longer known.",
        needs,
        query,
        answer: pageOf("stats", KeyStats),
        message,
        async handle({ caller: { workspaceId }, query }) {
          const page = { limit: query.limit, offset: offsetOf(query) };
          const { rows, total } = await countsByOrigin(db, workspaceId, source, page);
          const names = await findKeyNames(
            db,
            workspaceId,
            rows.map(({ origin_id }) => origin_id),
          );
          const stats = rows.map(({ origin_id: id, ...counts }) => ({
            id,
            name: names.get(id) ?? "Deleted key",
            ...countsOf(counts),
          }));
          return { stats, pagination: pagination(query, total) };
        },
      }),
    ),
  ];
}

async function withEngagement<Origin extends { readonly id: string }>(
  db: Queryable,
  workspaceId: WorkspaceId,
  source: "campaign" | "autoresponder",
  origins: readonly Origin[],
) {
  const counted = await countsOfOrigins(
    db,
    workspaceId,
    source,
    origins.map(({ id }) => id),
  );
  return origins.map((origin) => {
    const counts = counted.get(origin.id);
    const delivered = counts ? deliveredOf(counts) : 0;
    return {
      ...origin,
      ...countsOf(counts),
      open_count: counts?.opens ?? 0,
      click_count: counts?.clicks ?? 0,
      open_rate: fraction(counts?.unique_opens ?? 0, delivered),
      click_rate: fraction(counts?.unique_clicks ?? 0, delivered),
    };
  });
}

function countsOf(counts: Counts | undefined) {
  return {
    total_messages: counts ? counts.queued + attemptedOf(counts) : 0,
    delivered_count: counts ? deliveredOf(counts) : 0,
    failed_count: counts?.failed ?? 0,
    bounced_count: counts?.bounced ?? 0,
  };
}
