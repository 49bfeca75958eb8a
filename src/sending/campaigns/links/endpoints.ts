/** The endpoint that changes a tracked link of sent mail. Results of links are in analytics/endpoints.ts. */
import { Type } from "typebox";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { nullable } from "#platform/shapes.ts";
import { campaigns } from "#sending/campaigns/campaign.ts";
import { CampaignLink } from "./campaign-link.ts";
import { changeLinkTarget } from "./change-target.ts";

/** Mail programs and servers limit addresses to about this. */
const LONGEST_TARGET = 2_000;

const CampaignLinkChange = Type.Object(
  {
    index: Type.Integer({
      minimum: 0,
      maximum: 32_767,
      description: "The `index` of the link among the campaign's links.",
    }),
    target_url: nullable(
      Type.String({
        maxLength: LONGEST_TARGET,
        description:
          "Where clicks lead from now on: an http or https address without merge tags. null: to the URL that the mail was sent with.",
      }),
    ),
  },
  { $id: "CampaignLinkChange" },
);

export function campaignLinkEndpoints(deps: { readonly db: Database; readonly clock: Clock }): Endpoint[] {
  return [
    endpoint({
      id: "updateCampaignLink",
      method: "PATCH",
      path: "/campaigns/{id}/links",
      summary: "Change where a tracked link of sent mail leads",
      description:
        "For a wrong or outdated link in mail that has left. Clicks from now on lead to `target_url`, as do the links of the mail in the browser; clicks until now keep their count and the target that they had. null takes the change back. Refused (409) for a campaign of which no mail has left, and for links with merge tags, whose targets are in the mails themselves. Links are tracked only if the campaign was sent with click tracking.",
      needs: need(campaigns, "send"),
      body: CampaignLinkChange,
      answer: CampaignLink,
      message: "Link changed",
      errors: ["CONFLICT"],
      handle: ({ caller, params, body }) => changeLinkTarget(deps, caller.workspaceId, params.id, body),
    }),
  ];
}
