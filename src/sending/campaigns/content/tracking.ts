/** Whether a campaign is tracked: as it says itself, else as its list has it; without a list, yes. */
import type { MailingList } from "../../../audience/mailing-lists/mailing-list.ts";
import type { Campaign } from "../campaign.ts";

export interface Tracks {
  readonly tracks_opens: boolean;
  readonly tracks_clicks: boolean;
}

export function tracksOf(
  campaign: Pick<Campaign, "enable_open_tracking" | "enable_click_tracking">,
  list: Pick<MailingList, "enable_open_tracking" | "enable_click_tracking"> | undefined,
): Tracks {
  return {
    tracks_opens: campaign.enable_open_tracking ?? list?.enable_open_tracking ?? true,
    tracks_clicks: campaign.enable_click_tracking ?? list?.enable_click_tracking ?? true,
  };
}
