/** Whether a campaign is tracked: as it says itself, else as its list has it; without a list, yes. A text never is. */
import type { MailingList } from "#audience/mailing-lists/mailing-list.ts";
import type { Campaign } from "#sending/campaigns/campaign.ts";
import { type ContentFault, fieldFault } from "./read.ts";

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

/** Of a campaign that asks for what only HTML of its own can have. */
export function trackingWarnings({
  message_type,
  html_content,
  ...campaign
}: Pick<
  Campaign,
  "message_type" | "html_content" | "enable_open_tracking" | "enable_click_tracking"
>): ContentFault[] {
  if (message_type === "email" && html_content !== null && html_content.trim() !== "") return [];
  return (["enable_open_tracking", "enable_click_tracking"] as const)
    .filter((field) => campaign[field] === true)
    .map((field) => fieldFault(field, "does nothing here: what has no html_content is not tracked"));
}
