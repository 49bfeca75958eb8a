/** Whether a campaign is tracked: as it says itself, else as its list has it; without a list, yes. A text never is. */
import type { MailingList } from "#audience/mailing-lists/mailing-list.ts";
import { type ContentFault, fieldFault, type MessageType } from "./read.ts";

export interface Tracks {
  readonly tracks_opens: boolean;
  readonly tracks_clicks: boolean;
}

/** What a campaign says of its tracking; null: as its list has it. */
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

/** Of a campaign that asks for what only HTML of its own can have. */
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
    .map((field) => fieldFault(field, "does nothing here: what has no html_content is not tracked"));
}
