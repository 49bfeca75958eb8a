/** The endpoint for what a campaign's mail was opened with. */
import { AsyncCache } from "#platform/cache.ts";
import { createWorkspaceLimiter, QUERY_BOUNDS } from "#platform/concurrency.ts";
import type { Database } from "#platform/database/pool.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { campaigns } from "#sending/campaigns/campaign.ts";
import { requireCampaignState } from "#sending/campaigns/lifecycle/lifecycle.ts";
import { CampaignClients, campaignClients } from "./campaign-clients.ts";
import { countAgents } from "./store.ts";

/** Read of each type: a million events take a second or two. */
const MOST_EVENTS = 500_000;
/** Different User-Agents of each type. Parsing one takes some tens of microseconds, during which no request is answered. */
const MOST_AGENTS = 100;
/** Pages that are opened again soon read the events once. */
const KEPT_MS = 60_000;
const MOST_KEPT = 1_000;

export function campaignClientEndpoints({ db }: { readonly db: Database }): Endpoint[] {
  const limited = createWorkspaceLimiter(
    QUERY_BOUNDS,
    "Many reports of this workspace are being made: try again in some seconds",
  );
  const kept = new AsyncCache<ReturnType<typeof campaignClients>>({ ms: KEPT_MS, most: MOST_KEPT });
  return [
    endpoint({
      id: "getCampaignClients",
      method: "GET",
      path: "/campaigns/{id}/clients",
      mayTakeLong: "reading",
      summary: "Devices, operating systems and mail programs with which a campaign was read",
      description: `Opens and clicks by what their User-Agent says, people and programs apart. They are counted in the message log, so the figures are complete as long as the log is kept, and up to ${MOST_EVENTS.toLocaleString("en-US")} opens and as many clicks; they may be a minute old. Gmail, Yahoo and Outlook fetch pictures through proxies, which name the service and hide the device. No country is shown, because addresses of readers are not stored.`,
      needs: need(campaigns, "read"),
      answer: CampaignClients,
      message: "Devices and mail programs",
      errors: ["RATE_LIMIT_EXCEEDED"],
      async handle({ caller: { workspaceId }, params: { id } }) {
        await requireCampaignState(db, workspaceId, id);
        return kept.get(`${workspaceId} ${id}`, () =>
          limited(workspaceId, async () => {
            const most = { events: MOST_EVENTS, agents: MOST_AGENTS };
            return campaignClients(await countAgents(db, workspaceId, id, most), MOST_EVENTS);
          }),
        );
      },
    }),
  ];
}
