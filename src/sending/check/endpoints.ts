/** POST /campaigns/{id}/check and POST /check: everything that would go wrong, before a mail is sent. */
import { notFound } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { campaigns } from "#sending/campaigns/campaign.ts";
import { findCampaign } from "#sending/campaigns/store.ts";
import { loadCampaign, loadMail } from "#sending/preview/load-mail.ts";
import { BODY_LIMIT_OF_MAIL } from "#sending/preview/rendered-mail.ts";
import { CampaignCheck, CheckOrder } from "./campaign-check.ts";
import { type CampaignCheckDeps, MailChecker } from "./run-check.ts";

export function campaignCheckEndpoints(deps: CampaignCheckDeps): Endpoint[] {
  const { db } = deps;
  const checker = new MailChecker(deps);
  return [
    endpoint({
      id: "checkCampaign",
      method: "POST",
      path: "/campaigns/{id}/check",
      mayTakeLong: "asking others",
      summary: "Find what would go wrong if a campaign were sent, who would get it, and what it costs",
      description:
        "Renders the campaign as it would be sent and looks at content, links, images, sender and audience. Each finding has a place and says what to do. The servers of the first 50 links and the first 50 images are asked for them, and the spam scanner of the installation, if it has one, is asked for its score. Nothing is sent. The check ends within ten seconds; what could not be found out in time is listed in `unchecked`.",
      needs: need(campaigns, "read"),
      isEveryday: true,
      unaudited: "only reads",
      answer: CampaignCheck,
      message: "Campaign checked",
      errors: ["BAD_REQUEST"],
      async handle({ caller, params }) {
        const campaign = await findCampaign(db, caller.workspaceId, params.id, "attachments");
        if (campaign === undefined) throw notFound("Campaign");
        return checker.check(caller, await loadCampaign(db, caller, campaign));
      },
    }),
    endpoint({
      id: "checkContent",
      method: "POST",
      path: "/check",
      mayTakeLong: "asking others",
      summary: "Find what would go wrong with a mail that is not stored, or is being edited",
      description:
        "Checks content as POST /campaigns/{id}/check does: that of the body alone, or a campaign or a step of an autoresponder with the fields of the body in place of its own. Nothing is stored or sent. Audience, cost and duration are only those of a campaign. An editor that checks while a person writes leaves out `links`, `images` and `spam_score`, and the answer comes at once.",
      needs: need(campaigns, "read"),
      unaudited: "only reads",
      body: CheckOrder,
      answer: CampaignCheck,
      message: "Mail checked",
      bodyLimit: BODY_LIMIT_OF_MAIL,
      errors: ["BAD_REQUEST"],
      async handle({ caller, body: { without, ...order } }) {
        return checker.check(caller, await loadMail(deps, caller, order), new Set(without));
      },
    }),
  ];
}
