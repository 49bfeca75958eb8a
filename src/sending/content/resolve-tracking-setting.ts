/** Whether a campaign is tracked: its own setting, otherwise its list's, otherwise yes. Mail without HTML is not tracked. */
import type { MailingList } from "#audience/mailing-lists/mailing-list.ts";
import { type ContentFault, fieldFault, type MessageType } from "./parse-content.ts";

export interface Tracks {
  readonly tracks_opens: boolean;
  readonly tracks_clicks: boolean;
}

/** The campaign's own settings; null means the list's setting. */
interface TrackingChoice {
  readonly enable_open_tracking: boolean | null;
  readonly enable_click_tracking: boolean | null;
}

export function tracksOf(
  campaign: TrackingChoice,
  list: Pick<MailingList, "enable_open_tracking" | "enable_click_tracking"> | undefined,
): Tracks {
  return {
    tracks_opens: campaign.enable_open_tracking ?? list?.enable_open_tracking ?? true,
    tracks_clicks: campaign.enable_click_tracking ?? list?.enable_click_tracking ?? true,
  };
}

/** Warnings for a campaign without html_content that has tracking enabled. */
export function trackingWarnings({
  message_type,
  html_content,
  ...campaign
}: TrackingChoice & {
  readonly message_type: MessageType;
  readonly html_content: string | null;
}): ContentFault[] {
  if (message_type === "email" && html_content !== null && html_content.trim() !== "") return [];
  return (["enable_open_tracking", "enable_click_tracking"] as const)
    .filter((field) => campaign[field] === true)
    .map((field) => fieldFault(field, "has no effect: mail without html_content is not tracked"));
}
