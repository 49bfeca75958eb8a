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
  /** Of telephone numbers that are written without their country code. */
  readonly smsCountry?: CountryCode | null;
  readonly onCampaignEvents?: OnCampaignEvents;
  readonly autoPause?: AutoPauseLimits;
  /** Where links of a campaign with this tracking domain begin. */
  readonly linkBase: (workspaceId: WorkspaceId, urlDomainId: string | null) => Promise<string>;
  /** The addresses of one mail that lead back to us. */
  readonly linksOf: (
    mail: { readonly workspaceId: WorkspaceId; readonly messageId: string },
    base: string,
  ) => OutgoingLinks;
}
