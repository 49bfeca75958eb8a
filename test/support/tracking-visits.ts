/** Sent mails, and requests for their tracking URLs by people and programs. */

import sql from "sql-template-tag";
import { HOUR_MS } from "#platform/time-units.ts";
import { startService, type TestService } from "./service.ts";
import { type SentMail, sentCampaign, type TrackedCampaign } from "./tracked-campaign.ts";

export const browser =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36";

interface Visit {
  readonly method?: string;
  readonly agent?: string;
  readonly body?: string | FormData;
  readonly type?: string;
}

export function visit(
  address: string,
  { method = "GET", agent = browser, body, type }: Visit = {},
): Promise<Response> {
  const headers = { "user-agent": agent, ...(type !== undefined && { "content-type": type }) };
  return fetch(address, { redirect: "manual", method, headers, ...(body !== undefined && { body }) });
}

export const form = "application/x-www-form-urlencoded";
export const post = (address: string, body?: string): Promise<Response> =>
  visit(address, { method: "POST", ...(body !== undefined && { body, type: form }) });

/** The counters of a campaign without any opens, clicks or unsubscribes. */
export const none = {
  opens: 0,
  unique_opens: 0,
  clicks: 0,
  unique_clicks: 0,
  machine_opens: 0,
  machine_clicks: 0,
  unsubscribed: 0,
  activities: 0,
};

type Options = Partial<Parameters<typeof sentCampaign>[2]>;

export interface TrackingScene {
  readonly service: TestService;
  /** Inserts a campaign. Default delivery time: one hour ago. */
  readonly campaign: (options?: Options) => Promise<TrackedCampaign>;
  /** Inserts a campaign to one person. */
  readonly oneMail: (options?: Options) => Promise<SentMail & TrackedCampaign>;
  readonly countersOf: (campaignId: string) => Promise<Record<string, number> | undefined>;
  /** The stored engagement of a person. */
  readonly person: (email: string) => Promise<Record<string, unknown> | undefined>;
  readonly listDay: (listId: string) => Promise<object | undefined>;
}

export async function trackingScene(): Promise<TrackingScene> {
  const service = await startService();
  const { database, workspaceId, url: base, clock } = service;
  const campaign: TrackingScene["campaign"] = (options = {}) => {
    const deliveredAt = new Date(clock.now().getTime() - HOUR_MS);
    return sentCampaign(database, workspaceId, { base, deliveredAt, ...options });
  };
  return {
    service,
    campaign,
    async oneMail(options) {
      const sent = await campaign(options);
      const [mail] = sent.mails;
      if (mail === undefined) throw new Error("a campaign without a mail");
      return { ...sent, ...mail };
    },
    countersOf: (campaignId) =>
      database.row(sql`
        select opens, unique_opens, clicks, unique_clicks, machine_opens, machine_clicks, unsubscribed, activities
        from campaign_counters where campaign_id = ${campaignId}`),
    person: (email) =>
      database.row(sql`
        select open_count, unique_open_count, click_count, unique_click_count, engagement_score, last_opened_at,
          last_clicked_at, status
        from subscribers where email = ${email}`),
    listDay: (listId) =>
      database.row(sql`
        select sum(open_count)::int as opens, sum(click_count)::int as clicks, sum(engaged_count)::int as engaged
        from list_days where mailing_list_id = ${listId}`),
  };
}
