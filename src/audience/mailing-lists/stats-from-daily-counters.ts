/** Statistics of lists over the last days, from their daily counters. */
import { Temporal } from "temporal-polyfill";
import { type Static, Type } from "typebox";
import type { Queryable } from "#platform/database/pool.ts";
import { fraction } from "#platform/fraction.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { described, Id, nullable, Timestamp } from "#platform/shapes.ts";
import type { ListDay } from "./store.ts";

const rate = (of: string) => Type.Number({ description: `Fraction of the ${of}, 0 to 1.` });

const LastCampaign = Type.Object(
  {
    id: described(Id, "Id of the campaign."),
    name: Type.String({ description: "Its name." }),
    subject: Type.String({ description: "Its subject." }),
    status: Type.String({ description: "Its state." }),
    sent_at: nullable(described(Timestamp, "When sending began, in UTC; null if it has not begun.")),
    open_rate: rate("delivered"),
    click_rate: rate("delivered"),
  },
  { $id: "LastCampaign" },
);
export type LastCampaign = Static<typeof LastCampaign>;

export const ListStats = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "Id of the mailing list." }),
    new_subscribers: Type.Integer({ description: "People who became active, for the first time or again." }),
    unsubscribed: Type.Integer({ description: "People who unsubscribed within the window." }),
    net_growth: Type.Integer({
      description: "New subscribers minus those who unsubscribed, bounced or complained.",
    }),
    engagement_rate: rate("delivered, opened or clicked by a person"),
    bounce_rate: rate("sent"),
    complaint_rate: rate("delivered"),
    health_score: Type.Integer({ description: "0 to 100; 100 while nothing was sent." }),
    sparkline: Type.Array(
      Type.Object({
        date: Type.String({ format: "date", description: "The day, in the workspace's time zone." }),
        value: Type.Integer({ description: "Net growth." }),
      }),
      { description: "One entry a day, the oldest first." },
    ),
    last_campaign: nullable(
      described(LastCampaign, "The campaign that was sent to the list last; null if there is none."),
    ),
  },
  { $id: "MailingListStats" },
);
export type ListStats = Static<typeof ListStats>;

/** The last `days` days in a time zone, today included, as `YYYY-MM-DD`, oldest first. */
export function lastDays(now: Date, timeZone: string, days: number): string[] {
  const today = Temporal.Instant.fromEpochMilliseconds(now.getTime())
    .toZonedDateTimeISO(timeZone)
    .toPlainDate();
  return Array.from({ length: days }, (_, at) => today.subtract({ days: days - 1 - at }).toString());
}

/** The statistics of one list. @param days days with any activity @param dates all days of the window */
export function listStats(
  id: string,
  dates: readonly string[],
  days: readonly ListDay[],
  lastCampaign: LastCampaign | null,
): ListStats {
  const sum = (read: (day: ListDay) => number) => days.reduce((total, day) => total + read(day), 0);
  const growth = new Map(days.map((day) => [day.day, growthOf(day)]));
  const sent = sum((day) => day.sent_count);
  // A bounce or complaint after delivery subtracts the delivery on its own day; the delivery may lie before the window.
  // So a sum can be negative.
  const delivered = Math.max(
    0,
    sum((day) => day.delivered_count),
  );
  const bounced = Math.max(
    0,
    sum((day) => day.bounce_count),
  );
  const rates = {
    engagement_rate: fraction(
      sum((day) => day.engaged_count),
      delivered,
    ),
    bounce_rate: fraction(bounced, sent),
    complaint_rate: fraction(
      sum((day) => day.complaint_count),
      delivered,
    ),
  };
  return {
    id,
    new_subscribers: sum((day) => day.subscribed),
    unsubscribed: sum((day) => day.unsubscribed),
    net_growth: sum(growthOf),
    ...rates,
    health_score: sent === 0 ? 100 : healthScore(rates),
    sparkline: dates.map((date) => ({ date, value: growth.get(date) ?? 0 })),
    last_campaign: lastCampaign,
  };
}

function growthOf({ subscribed, unsubscribed, bounced, complained }: ListDay): number {
  return subscribed - unsubscribed - bounced - complained;
}

/** The rates at which Amazon SES pauses a sender. */
export const PAUSED_AT = { bounce_rate: 0.1, complaint_rate: 0.005 } as const;

/** 100 minus deductions for bounces (40 at 10 %), complaints (40 at 0.5 %) and missing engagement (20 at none). */
export function healthScore(
  rates: Pick<ListStats, "engagement_rate" | "bounce_rate" | "complaint_rate">,
): number {
  const share = (value: number, full: number) => Math.min(1, value / full);
  return Math.round(
    100 -
      40 * share(rates.bounce_rate, PAUSED_AT.bounce_rate) -
      40 * share(rates.complaint_rate, PAUSED_AT.complaint_rate) -
      20 * (1 - share(rates.engagement_rate, 0.2)),
  );
}

/** The campaigns and autoresponders of lists, as the sending wing provides them. */
export interface ListCampaigns {
  /** The newest sent campaign of each list, by the id of the list. */
  latest(db: Queryable, workspaceId: WorkspaceId): Promise<ReadonlyMap<string, LastCampaign>>;
  /** The campaign or autoresponder that keeps the list from being deleted, with what to do about it first. */
  userOf(db: Queryable, workspaceId: WorkspaceId, mailingListId: string): Promise<string | undefined>;
  /** Stores the list's name in its campaigns before the list is deleted. */
  keepName(tx: Queryable, workspaceId: WorkspaceId, mailingListId: string): Promise<void>;
}
