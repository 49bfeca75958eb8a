/** A tracked link of a campaign, as answers show it. */
import { Type } from "typebox";
import { described, NullableTimestamp, nullable } from "#platform/shapes.ts";

const Count = Type.Integer();

export const CampaignLink = Type.Object(
  {
    index: described(Count, "Position of the link in the mail, from 0."),
    url: Type.String({ description: "With its merge tags." }),
    is_personal: Type.Boolean({ description: "Whether the URL contains merge tags." }),
    target_url: nullable(
      Type.String({
        description: "Where clicks lead since the target was changed; null: to `url`.",
      }),
    ),
    target_changed_at: Type.Unsafe<Date | null>({
      ...NullableTimestamp,
      description: "When `target_url` was set, in UTC; null when clicks lead to `url`.",
    }),
    click_count: described(Count, "Clicks by people."),
    unique_click_count: Type.Integer({ description: "People who clicked the link." }),
  },
  { $id: "CampaignLink" },
);
