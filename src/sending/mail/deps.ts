/** What the mail of campaigns and autoresponders depends on: database, clock, settings and the links of each message. */
import type { CountryCode } from "libphonenumber-js";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Log } from "#platform/log/log.ts";
import type { OnCampaignEvents } from "#sending/campaigns/campaign-events.ts";
import type { AutoPauseLimits } from "#sending/campaigns/lifecycle/auto-pause.ts";
import type { OutgoingLinks } from "#tracking/link-tokens.ts";

export interface CampaignMailDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** The country of telephone numbers without a country code. */
  readonly smsCountry?: CountryCode | null;
  readonly onCampaignEvents?: OnCampaignEvents;
  readonly autoPause?: AutoPauseLimits;
  /** The base URL of links in mail, for a tracking domain or the workspace's default. */
  readonly linkBase: (workspaceId: WorkspaceId, urlDomainId: string | null) => Promise<string>;
  /** The links of one message that lead to the service: unsubscribe, web view, tracked links, pixel. */
  readonly linksOf: (
    mail: { readonly workspaceId: WorkspaceId; readonly messageId: string },
    base: string,
  ) => OutgoingLinks;
}
