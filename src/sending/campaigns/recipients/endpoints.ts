/** The endpoints that act on the people behind a campaign's figures: an export, and a segment. */
import { type Static, Type } from "typebox";
import { requireKnownList } from "#audience/mailing-lists/store.ts";
import type { Conditions } from "#audience/segments/conditions/conditions.ts";
import { createSegment } from "#audience/segments/save-segment.ts";
import { Segment, segmentsResource } from "#audience/segments/segment.ts";
import { messageStatuses } from "#messages/message/status.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { invalid } from "#platform/errors.ts";
import { requirePermissions } from "#platform/http/authenticate.ts";
import { type Endpoint, endpoint, need, permissionOf } from "#platform/http/endpoint.ts";
import { JobLabel, JobStarted, requirePlace, startJob } from "#platform/jobs/start-or-cancel-job.ts";
import { omittable } from "#platform/shapes.ts";
import { requireLink } from "#sending/campaigns/analytics/require-link.ts";
import { campaigns } from "#sending/campaigns/campaign.ts";
import { requireCampaignState } from "#sending/campaigns/lifecycle/lifecycle.ts";
import { findAudienceList } from "#sending/campaigns/store.ts";
import { requireBytes, type StorageDeps } from "#workspace/billing/storage-limit.ts";
import { nameAndDescription } from "#workspace/read-display-name.ts";
import { RECIPIENT_EXPORT_JOB } from "./recipient-export-job.ts";

const text = (maxLength: number, description: string) =>
  omittable(Type.String({ minLength: 1, maxLength, description }));

/** What recipients did, as the filters of listCampaignMessages say it. */
const engagement = {
  opened: omittable(
    Type.Boolean({
      description: "Only recipients who opened the mail or clicked in it; false: those who did neither.",
    }),
  ),
  clicked: omittable(
    Type.Boolean({ description: "Only recipients who clicked in the mail; false: the others." }),
  ),
  link: omittable(
    Type.Integer({
      minimum: 0,
      maximum: 32_767,
      description: "Only recipients who clicked the link with this `index` of the campaign's links.",
    }),
  ),
  unsubscribed: omittable(
    Type.Boolean({ description: "Only recipients who unsubscribed through the mail; false: the others." }),
  ),
  domain: text(253, "Only recipients at this domain, in any case and either script."),
};

const RecipientExport = Type.Object(
  {
    status: omittable(Type.Enum([...messageStatuses], { description: "Only messages in this status." })),
    email: text(320, "Only recipients whose address is this one or contains this text, in any case."),
    machine: omittable(
      Type.Boolean({
        description: "Only messages that a program opened or clicked in; false: the others.",
      }),
    ),
    ...engagement,
    format: omittable(Type.Enum(["csv"], { description: "The format of the file: `csv`." })),
    label: JobLabel,
  },
  // A misspelt filter would be ignored, and the export would have all recipients.
  { $id: "CampaignRecipientExport", additionalProperties: false },
);

const CampaignSegment = Type.Object(
  {
    name: Type.String({ ...nameAndDescription.name, description: "The name of the segment." }),
    description: Type.Optional(
      Type.String({ ...nameAndDescription.description, description: "What the segment is for." }),
    ),
    list_id: omittable(
      Type.String({
        format: "uuid",
        description:
          "The mailing list that the segment belongs to, whose members it selects from; the list that the campaign was sent to when omitted.",
      }),
    ),
    ...engagement,
  },
  { $id: "CampaignSegment", additionalProperties: false },
);

const segmentFilters = `a segment takes the filters ${Object.keys(engagement).join(", ")}`;

interface Dependencies extends StorageDeps {
  readonly db: Database;
  readonly clock: Clock;
}

export function campaignRecipientEndpoints(deps: Dependencies): Endpoint[] {
  const { db, clock } = deps;
  const needs = need(campaigns, "write");
  return [
    endpoint({
      id: "exportCampaignRecipients",
      method: "POST",
      path: "/campaigns/{id}/messages/export-async",
      summary: "Export recipients of a campaign and what they did to a CSV file, in the background",
      description:
        "Takes the filters of `listCampaignMessages`. Follow the job with `getJob` and download its result. The file has one row for each recipient.",
      needs,
      confirmed: true,
      body: RecipientExport,
      bodyMayBeAbsent: true,
      answer: JobStarted,
      status: 202,
      message: "The export has started",
      errors: ["CONFLICT", "PLAN_LIMIT_REACHED"],
      async handle({ caller: { workspaceId, actor }, params, body }) {
        const { name } = await requireCampaignState(db, workspaceId, params.id);
        await requireLink(db, workspaceId, params.id, body.link);
        const { format: _, label, ...given } = body;
        const filter = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
        return db.transaction(async (tx) => {
          await requirePlace(tx, workspaceId, RECIPIENT_EXPORT_JOB, "exports of recipients");
          await requireBytes(deps, tx, workspaceId, 1);
          const input = { campaign_id: params.id, filter };
          const origin = { actor, label, resource: { kind: campaigns.name, id: params.id, name } };
          return startJob(tx, workspaceId, { type: RECIPIENT_EXPORT_JOB, needs, input, origin });
        });
      },
    }),
    endpoint({
      id: "createSegmentFromCampaign",
      method: "POST",
      path: "/campaigns/{id}/segments",
      mayTakeLong: "reading",
      summary: "Save the recipients of a campaign who did something as a segment of a list",
      description:
        "The segment has rules on what people did with the campaign, so it follows later opens and clicks. It has active members only, except with `unsubscribed`: true, which selects members of any status. `list_id` is needed when the campaign was not sent to one list.",
      needs: need(segmentsResource, "write"),
      body: CampaignSegment,
      advise: () => segmentFilters,
      answer: Segment,
      status: 201,
      message: "Segment created",
      errors: ["BAD_REQUEST"],
      async handle({ caller, params, body }) {
        requirePermissions(caller, [permissionOf(need(campaigns, "read"))]);
        const { workspaceId } = caller;
        await requireCampaignState(db, workspaceId, params.id);
        await requireLink(db, workspaceId, params.id, body.link);
        if (body.list_id != null) await requireKnownList(db, workspaceId, body.list_id);
        const listId = body.list_id ?? (await findAudienceList(db, workspaceId, params.id));
        if (listId === undefined) {
          const message = "list_id is needed: this campaign was not sent to one list that still exists";
          throw invalid({ field: "list_id", message });
        }
        const conditions = conditionsOf(params.id, body);
        const { name, description } = body;
        const segment = { name, conditions, ...(description !== undefined && { description }) };
        return createSegment({ db, clock, uses: [] }, workspaceId, listId, segment);
      },
    }),
  ];
}

/** The rules that select the same people as the filters do. */
function conditionsOf(
  id: string,
  { opened, clicked, link, unsubscribed, domain }: Static<typeof CampaignSegment>,
): Conditions {
  const rules: { field: string; operator: string; value: unknown }[] = [];
  const about = (operator: string, value: unknown = id) => rules.push({ field: "campaign", operator, value });
  if (opened != null) about(opened ? "opened" : "did_not_open");
  if (clicked != null) about(clicked ? "clicked" : "did_not_click");
  if (link != null) about("clicked_link", { campaign_id: id, link });
  if (unsubscribed != null) about(unsubscribed ? "unsubscribed" : "did_not_unsubscribe");
  if (rules.length === 0) about("was_sent");
  // Who unsubscribed is most often no active member any more: a rule on the status makes all members count.
  if (unsubscribed === true) rules.push({ field: "status", operator: "is_not_empty", value: undefined });
  if (domain != null) rules.push({ field: "email_domain", operator: "equals", value: domain });
  return { logic: "and", rules };
}
