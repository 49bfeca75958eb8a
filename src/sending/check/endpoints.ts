/** POST /campaigns/{id}/check: everything that would go wrong, before a campaign is sent. */
import type { Clock } from "#platform/clock.ts";
import { ApiError } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { campaigns } from "#sending/campaigns/campaign.ts";
import type { CampaignReader } from "#sending/campaigns/lifecycle/read-campaign-body.ts";
import { findCampaign } from "#sending/campaigns/store.ts";
import { samplePerson } from "#sending/mail/choose-person.ts";
import { loadMail } from "#sending/preview/load-mail.ts";
import { type MailComposing, prepareMail } from "#sending/preview/prepare-mail.ts";
import { createMailThread } from "#sending/preview/render-in-thread.ts";
import { getMeterReading } from "#workspace/billing/meter.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import { type AudienceCount, countAudience } from "./audience-before-sending.ts";
import {
  type AudienceBeforeSending,
  CampaignCheck,
  type CampaignCost,
  type CheckFinding,
} from "./campaign-check.ts";
import type { MailCheck } from "./check-mail.ts";
import { checkSettings } from "./check-settings.ts";
import { costOf, durationOf } from "./cost-and-duration.ts";
import { sortFindings, wholeFinding } from "./findings.ts";

export interface CampaignCheckDeps extends MailComposing, Pick<CampaignReader, "hasTrackingDomain"> {
  readonly clock: Clock;
  readonly plans: Plans;
}

export function campaignCheckEndpoints(deps: CampaignCheckDeps): Endpoint[] {
  const { db, clock } = deps;
  const check = createMailThread<MailCheck>(new URL("check-thread.ts", import.meta.url));
  return [
    endpoint({
      id: "checkCampaign",
      method: "POST",
      path: "/campaigns/{id}/check",
      mayTakeLong: "asking others",
      summary: "Find what would go wrong if a campaign were sent, who would get it, and what it costs",
      description:
        "Renders the campaign as it would be sent and looks at content, links, images, sender and audience. Each finding has a place and says what to do. It asks no other server and sends nothing. What could not be found out in time is listed in `unchecked`.",
      needs: need(campaigns, "read"),
      unaudited: "only reads",
      answer: CampaignCheck,
      message: "Campaign checked",
      errors: ["BAD_REQUEST"],
      async handle({ caller, params }) {
        const { workspaceId } = caller;
        const now = clock.now();
        const campaign = await findCampaign(db, workspaceId, params.id, "content");
        if (campaign === undefined) throw new ApiError("NOT_FOUND", "Campaign not found");
        const loaded = await loadMail(db, caller, { campaign_id: params.id });
        const person = await samplePerson(db, workspaceId, loaded.listId, now);
        const [mail, settings, counted] = await Promise.all([
          prepareMail(deps, loaded, person, now).then((prepared) => check(workspaceId, prepared)),
          checkSettings(db, workspaceId, { ...campaign, html_content: loaded.campaign.html_content }, deps),
          countAudience(db, workspaceId, campaign, now),
        ]);
        const audience = counted.outcome === "counted" ? counted.audience : null;
        const { cost, duration } = await priceAndTime(deps, workspaceId, audience, now);
        const all = [...mail.findings, ...settings, ...audienceFindings(counted), ...costFindings(cost)];
        return {
          ...sortFindings(all),
          audience,
          cost,
          duration,
          subject: mail.subject,
          preview_text: mail.previewText,
          size: mail.size,
          html_size: mail.htmlSize,
          unchecked:
            counted.outcome === "failed" ? [{ part: "audience" as const, reason: counted.reason }] : [],
          checked_at: now,
        };
      },
    }),
  ];
}

async function priceAndTime(
  { db, plans }: CampaignCheckDeps,
  workspaceId: WorkspaceId,
  audience: AudienceBeforeSending | null,
  now: Date,
) {
  if (audience === null) return { cost: null, duration: null };
  const reading = await getMeterReading(db, plans, workspaceId, now);
  const duration = await durationOf(db, workspaceId, reading, audience.will_send, now);
  return { cost: costOf(reading, audience.will_send), duration };
}

function audienceFindings(counted: AudienceCount): CheckFinding[] {
  const found = (code: string, message: string, fix: string) =>
    wholeFinding("error", code, "recipient_type", message, fix);
  if (counted.outcome === "missing") {
    const message = "The campaign has no audience: its list or segment is not given or was deleted.";
    return [found("audience_missing", message, "Choose a mailing list, a segment or conditions.")];
  }
  if (counted.outcome === "failed" || counted.audience.will_send > 0) return [];
  const message = "No one in the audience can get the mail: it is empty, or all are inactive or suppressed.";
  return [found("audience_empty", message, "Choose another audience, or add people to it.")];
}

function costFindings(cost: CampaignCost | null): CheckFinding[] {
  if (cost === null || cost.uncovered === 0) return [];
  const message = `Plan and balance do not cover ${cost.uncovered} of the messages: the campaign would pause before them.`;
  const fix = "Top up the balance, change the plan, or send to fewer people.";
  return [wholeFinding("warning", "messages_not_covered", null, message, fix)];
}
