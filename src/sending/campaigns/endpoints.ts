/** The endpoints of campaigns: drafts, and all actions. Results are in analytics/endpoints.ts. */
import { Type } from "typebox";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { dayField, startOfDay } from "#platform/http/request/day-parameters.ts";
import { choiceField, pageFields, textField } from "#platform/http/request/query.ts";
import { offsetOf, pageOf, pagination } from "#platform/http/response/pagination.ts";
import { Deleted, omittable } from "#platform/shapes.ts";
import { TestOrder, TestSent } from "#sending/mail/test-order.ts";
import { readTestRecipients, sendCampaignTest, type TestDeps } from "#sending/mail/test-send.ts";
import { etagOf } from "#sending/revision.ts";
import {
  Campaign,
  CampaignChange,
  CampaignSummary,
  campaignStatuses,
  campaigns,
  NewCampaign,
} from "./campaign.ts";
import {
  type CampaignDeps,
  cancel,
  createCampaign,
  deleteCampaign,
  duplicateCampaign,
  pause,
  replaceCampaign,
  requireCampaign,
  resume,
  sendCampaign,
  unschedule,
  updateCampaign,
} from "./lifecycle/lifecycle.ts";
import { ApprovalRequest, requestApproval } from "./lifecycle/request-approval.ts";
import { campaignSorts, campaignTimes, countCampaigns, listCampaigns, withouts } from "./store.ts";

/** Room for 20 MB of attachments in Base64 and a body. */
const BODY_LIMIT = 30 * 1024 * 1024;

const withoutField = choiceField(
  withouts,
  "Leaves large values out of the response. `content`: html_content, text_content, mjml and design are null, and attachments have no content. `attachments`: only the content of attachments is left out (empty).",
);

const SendOrder = Type.Object(
  {
    scheduled_at: omittable(
      Type.String({
        maxLength: 40,
        description:
          "Overrides the campaign's own time. A time in the past means now; an empty one is refused.",
      }),
    ),
    send_now: omittable(
      Type.Boolean({
        description: "True: send now, whatever time the campaign has. Cannot be combined with scheduled_at.",
      }),
    ),
  },
  // A misspelled scheduled_at must not mean "now".
  { $id: "SendOrder", additionalProperties: false },
);

export function campaignEndpoints(deps: CampaignDeps & TestDeps): Endpoint[] {
  const { db } = deps;
  return [
    endpoint({
      id: "listCampaigns",
      method: "GET",
      path: "/campaigns",
      summary: "Campaigns with their counts and rates, by default newest first",
      description:
        "A page of campaigns with their results, without their content. `search` finds parts of name and subject.",
      needs: need(campaigns, "read"),
      isEveryday: true,
      query: {
        status: choiceField(campaignStatuses, "Only campaigns in this status."),
        search: textField(200, "A part of name or subject."),
        date: choiceField(campaignTimes, "The time that `from` and `to` limit; default: created."),
        from: dayField("The first day of that time, YYYY-MM-DD, in the workspace's time zone."),
        to: dayField("The last day of that time, inclusive, in the workspace's time zone."),
        sort: choiceField(
          campaignSorts,
          "What the list is sorted by; default: created. Campaigns without the time come last.",
        ),
        order: choiceField(["asc", "desc"], "Default: desc (newest first), and asc (from A) by name."),
        ...pageFields(),
      },
      answer: pageOf("campaigns", CampaignSummary),
      message: "Campaigns",
      async handle({ caller: { workspaceId, timezone }, query }) {
        const page = { limit: query.limit, offset: offsetOf(query) };
        const filter = {
          ...query,
          since: query.from && startOfDay(query.from, timezone),
          until: query.to && startOfDay(query.to.add({ days: 1 }), timezone),
        };
        const [rows, total] = await Promise.all([
          listCampaigns(db, workspaceId, filter, page),
          countCampaigns(db, workspaceId, filter),
        ]);
        return { campaigns: rows, pagination: pagination(query, total) };
      },
    }),
    endpoint({
      id: "createCampaign",
      method: "POST",
      path: "/campaigns",
      mayTakeLong: "working aside",
      summary: "Create a campaign as a draft",
      description:
        "A draft can be changed and tested; `POST /campaigns/{id}/send` sends it. Its content is html_content, text_content or both, or is made from `mjml` or `design`, or taken over from the template `template_id`. Merge tags are checked at once, and `warnings` names what would show nothing. A workspace has at most 10,000 campaigns.",
      needs: need(campaigns, "write"),
      isEveryday: true,
      body: NewCampaign,
      answer: Campaign,
      status: 201,
      message: "Campaign created",
      etag: etagOf,
      idempotent: true,
      bodyLimit: BODY_LIMIT,
      errors: ["BAD_REQUEST", "INSUFFICIENT_SCOPE", "PLAN_LIMIT_REACHED"],
      handle: (request) => createCampaign(deps, request),
    }),
    endpoint({
      id: "getCampaign",
      method: "GET",
      path: "/campaigns/{id}",
      summary: "One campaign with its content, settings and counts",
      description:
        "Content, settings and results. Use `GET /campaigns/{id}/activity` and the calls beside it for charts.",
      needs: need(campaigns, "read"),
      isEveryday: true,
      query: { without: withoutField },
      auditQuery: { without: "content" },
      answer: Campaign,
      message: "Campaign",
      etag: etagOf,
      handle: ({ caller, params, query }) =>
        requireCampaign(db, caller.workspaceId, params.id, query.without),
    }),
    endpoint({
      id: "updateCampaign",
      method: "PATCH",
      path: "/campaigns/{id}",
      mayTakeLong: "working aside",
      summary: "Change some fields of a draft; omitted fields stay as they are",
      description:
        "Made for editors that save while a person types: send `If-Match` with the ETag of the version you have seen, and get 412 with the present version if another request has changed it. Without it the last writer wins. Only drafts can be changed.",
      needs: need(campaigns, "write"),
      isEveryday: true,
      query: { without: withoutField },
      body: CampaignChange,
      answer: Campaign,
      message: "Campaign updated",
      conditional: true,
      etag: etagOf,
      bodyLimit: BODY_LIMIT,
      errors: ["CONFLICT", "PLAN_LIMIT_REACHED"],
      handle: (request) => updateCampaign(deps, request, request.query.without),
    }),
    endpoint({
      id: "replaceCampaign",
      method: "PUT",
      path: "/campaigns/{id}",
      mayTakeLong: "working aside",
      summary: "Replace a draft; omitted fields return to their defaults",
      description:
        "Send the whole draft: a field that is missing returns to its default. Any other status than `draft` is refused (409); `POST /campaigns/{id}/duplicate` makes a new draft of it. Takes `If-Match` as PATCH does.",
      needs: need(campaigns, "write"),
      body: NewCampaign,
      answer: Campaign,
      message: "Campaign updated",
      conditional: true,
      etag: etagOf,
      bodyLimit: BODY_LIMIT,
      errors: ["CONFLICT", "PLAN_LIMIT_REACHED"],
      handle: (request) => replaceCampaign(deps, request),
    }),
    endpoint({
      id: "deleteCampaign",
      method: "DELETE",
      path: "/campaigns/{id}",
      mayTakeLong: "reading",
      summary: "Delete a campaign that is not sending; its messages stay in the log",
      description:
        "Possible in every status except `sending`. Deleting a paused campaign cancels its waiting messages. Results stay in reports, with the campaign's name. Takes `If-Match` as PATCH does.",
      needs: need(campaigns, "write"),
      answer: Deleted,
      message: "Campaign deleted",
      conditional: true,
      errors: ["CONFLICT"],
      async handle({ caller, params, mayBe }) {
        await deleteCampaign(deps, caller.workspaceId, params.id, mayBe);
        return { id: params.id, deleted: true } as const;
      },
    }),
    endpoint({
      id: "sendCampaign",
      method: "POST",
      path: "/campaigns/{id}/send",
      summary: "Send a draft now, or at its scheduled time",
      description:
        "Checks content, recipients and sender again, and schedules the campaign or begins to send. Recipients are chosen when sending begins, not now. A draft with `scheduled_at` leaves at that time unless `send_now` is true. Send `If-Match` with the ETag of the version that a person has approved, to get 412 if it was changed since. `campaign.sent` is sent when every message had its first attempt.",
      needs: need(campaigns, "send"),
      isEveryday: true,
      body: SendOrder,
      bodyMayBeAbsent: true,
      answer: Campaign,
      message: (campaign) =>
        campaign.status === "scheduled" ? "Campaign scheduled" : "Campaign is being sent",
      idempotent: true,
      conditional: true,
      errors: ["CONFLICT", "BAD_REQUEST", "EMAIL_NOT_VERIFIED", "PLAN_LIMIT_REACHED", "INSUFFICIENT_BALANCE"],
      handle: (request) => sendCampaign(deps, request),
    }),
    endpoint({
      id: "requestApproval",
      method: "POST",
      path: "/campaigns/{id}/request-approval",
      summary: "Ask those who may send for approval of a draft",
      description:
        "For people who write campaigns and may not send them. The draft must pass the checks of `POST /campaigns/{id}/send`. Callers with `campaigns:send` get a notice (`GET /notices`) until the campaign is sent, scheduled or changed. If approval of this version was asked before, the answer is the campaign with that request.",
      needs: need(campaigns, "write"),
      isEveryday: true,
      outward: "nothing",
      body: ApprovalRequest,
      bodyMayBeAbsent: true,
      answer: Campaign,
      message: "Approval was asked for",
      idempotent: true,
      errors: ["CONFLICT", "BAD_REQUEST", "EMAIL_NOT_VERIFIED", "PLAN_LIMIT_REACHED", "INSUFFICIENT_BALANCE"],
      handle: (request) => requestApproval(deps, request),
    }),
    endpoint({
      id: "pauseCampaign",
      method: "POST",
      path: "/campaigns/{id}/pause",
      summary: "Pause a sending campaign; messages being sent are finished, no others are sent",
      description: "Sends `campaign.paused`. `POST /campaigns/{id}/resume` continues.",
      needs: need(campaigns, "send"),
      outward: "nothing",
      answer: Campaign,
      message: "Campaign paused",
      errors: ["CONFLICT"],
      handle: ({ caller, params }) => pause(deps, caller.workspaceId, params.id),
    }),
    endpoint({
      id: "resumeCampaign",
      method: "POST",
      path: "/campaigns/{id}/resume",
      summary: "Resume a paused campaign where it stopped",
      description:
        "People who left in the meantime get nothing. Refused (409) if the audience no longer exists.",
      needs: need(campaigns, "send"),
      answer: Campaign,
      message: "Campaign resumed",
      errors: ["CONFLICT"],
      handle: ({ caller, params }) => resume(deps, caller.workspaceId, params.id),
    }),
    endpoint({
      id: "cancelCampaign",
      method: "POST",
      path: "/campaigns/{id}/cancel",
      summary: "Cancel a campaign permanently; messages that were not sent are cancelled",
      description:
        "Works while it is scheduled, sending or paused, and cannot be undone. Messages that were sent stay sent.",
      needs: need(campaigns, "send"),
      outward: "nothing",
      answer: Campaign,
      message: "Campaign cancelled",
      errors: ["CONFLICT"],
      handle: ({ caller, params }) => cancel(deps, caller.workspaceId, params.id),
    }),
    endpoint({
      id: "unscheduleCampaign",
      method: "POST",
      path: "/campaigns/{id}/unschedule",
      summary: "Turn a scheduled campaign back into a draft",
      description:
        "Its time is kept in `scheduled_at`; change the draft, or send it again. Refused (409) once sending has begun.",
      needs: need(campaigns, "send"),
      outward: "nothing",
      answer: Campaign,
      message: "Campaign is a draft again",
      errors: ["CONFLICT"],
      handle: ({ caller, params }) => unschedule(deps, caller.workspaceId, params.id),
    }),
    endpoint({
      id: "duplicateCampaign",
      method: "POST",
      path: "/campaigns/{id}/duplicate",
      summary: "Duplicate a campaign in any status as a new draft",
      description: "Content and settings are copied, results are not. The schedule is not copied either.",
      needs: need(campaigns, "write"),
      answer: Campaign,
      status: 201,
      message: "Campaign duplicated",
      errors: ["BAD_REQUEST", "PLAN_LIMIT_REACHED"],
      handle: ({ caller, params }) => duplicateCampaign(deps, caller.workspaceId, params.id),
    }),
    endpoint({
      id: "testCampaign",
      method: "POST",
      path: "/campaigns/{id}/test",
      summary: "Send a test of the mail to a few addresses",
      description:
        "The mail is rendered as for a recipient and marked as a test; it counts in the plan's allowance and in no result of the campaign. The campaign does not change.",
      needs: need(campaigns, "send"),
      isEveryday: true,
      body: TestOrder,
      answer: TestSent,
      message: "Test sent",
      errors: ["BAD_REQUEST", "EMAIL_NOT_VERIFIED", "PLAN_LIMIT_REACHED", "INSUFFICIENT_BALANCE"],
      handle: ({ caller, params, body, requestId }) =>
        sendCampaignTest(deps, { caller, requestId, recipients: readTestRecipients(body.emails) }, params.id),
    }),
  ];
}
