/** The endpoint for the progress of one campaign: counts only, cheap enough to poll. */
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { required } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { campaigns } from "#sending/campaigns/campaign.ts";
import { CampaignProgress, liveProgress } from "./describe-progress.ts";
import { type DomainProgress, listDomainProgress, listProgress } from "./store.ts";

const MOST_DOMAINS = 20;
const none: DomainProgress = {
  queued: 0,
  deferred: 0,
  delivered: 0,
  bounced: 0,
  failed: 0,
  suppressed: 0,
  cancelled: 0,
};

export function campaignProgressEndpoints({ db, clock }: { db: Database; clock: Clock }): Endpoint[] {
  return [
    endpoint({
      id: "getCampaignProgress",
      method: "GET",
      path: "/campaigns/{id}/progress",
      summary: "How far a campaign is: counts by state, rate, ETA and what limits it",
      description:
        "Cheap enough to ask for every second; the topic `campaign:<id>` of `streamEvents` has the same counts. `limited_by` says why it is not faster.",
      needs: need(campaigns, "read"),
      answer: CampaignProgress,
      message: "Campaign progress",
      async handle({ caller: { workspaceId }, params: { id } }) {
        const now = clock.now();
        const ref = { workspaceId, id };
        const [rows, domains] = await Promise.all([
          listProgress(db, [ref], now),
          listDomainProgress(db, ref, MOST_DOMAINS),
        ]);
        const row = required(rows[0], "Campaign");
        const others = domains.find(({ domain }) => domain === null);
        const { domain: _, ...other } = others ?? { domain: null, domains: 0, ...none };
        return {
          ...liveProgress(row, now),
          sent_at: row.sent_at,
          completed_at: row.completed_at,
          last_deferral: row.last_deferral,
          domains: domains.flatMap(({ domain, domains: _number, ...counts }) =>
            domain === null ? [] : { domain, ...counts },
          ),
          other_domains: other,
          as_of: now,
        };
      },
    }),
  ];
}
