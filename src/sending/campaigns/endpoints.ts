/** Campaigns over HTTP: drafts, and everything that can be done with one. What came of it is in analytics. */
import { Type } from "typebox";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { choiceField, pageFields, textField } from "#platform/http/request/query.ts";
import { offsetOf, pageOf, pagination } from "#platform/http/response/paging.ts";
import { Deleted, omittable } from "#platform/shapes.ts";
import { MOST_TEST_RECIPIENTS, sendTest, type TestDeps } from "#sending/mail/test-send.ts";
import { Campaign, CampaignSummary, campaignStatuses, campaigns, NewCampaign } from "./campaign.ts";
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
} from "./lifecycle/lifecycle.ts";
import { countCampaigns, listCampaigns } from "./store.ts";

/** Room for 20 MB of attachments in Base64 and a body. */
const BODY_LIMIT = 30 * 1024 * 1024;

const SendOrder = Type.Object(
  {
    scheduled_at: omittable(
      Type.String({
        maxLength: 40,
        description: "Instead of the campaign's own; past is now, empty is 400.",
      }),
    ),
    send_now: omittable(
      Type.Boolean({
        description: "True: at once, whatever time the campaign has; not beside scheduled_at.",
      }),
    ),
  },
  // A time under another name must not become "now".
  { $id: "SendOrder", additionalProperties: false },
);

const TestOrder = Type.Object(
  { emails: Type.Array(Type.String(), { minItems: 1, maxItems: MOST_TEST_RECIPIENTS }) },
  { $id: "TestOrder" },
);

const TestSent = Type.Object({ messages: Type.Array(Type.Object({ id: Type.String(), to: Type.String() })) });

export function campaignEndpoints(deps: CampaignDeps & TestDeps): Endpoint[] {
  const { db } = deps;
  return [
    endpoint({
      id: "listCampaigns",
      method: "GET",
      path: "/campaigns",
      summary: "Campaigns with their counts and rates, newest first",
      needs: need(campaigns, "read"),
      query: {
        status: choiceField(campaignStatuses, "Only those in this state."),
        search: textField(200, "A part of name or subject."),
        ...pageFields(),
      },
      answer: pageOf("campaigns", CampaignSummary),
      message: "Campaigns",
      async handle({ caller: { workspaceId }, query }) {
        const page = { limit: query.limit, offset: offsetOf(query) };
        const [rows, total] = await Promise.all([
          listCampaigns(db, workspaceId, query, page),
          countCampaigns(db, workspaceId, query),
        ]);
        return { campaigns: rows, pagination: pagination(query, total) };
      },
    }),
    endpoint({
      id: "createCampaign",
      method: "POST",
      path: "/campaigns",
      mayTakeLong: "reading",
      summary: "Make a draft of a campaign",
      needs: need(campaigns, "write"),
      body: NewCampaign,
      answer: Campaign,
      status: 201,
      message: "Campaign created",
      idempotent: true,
      bodyLimit: BODY_LIMIT,
      errors: ["BAD_REQUEST", "PLAN_LIMIT_REACHED"],
      handle: (request) => createCampaign(deps, request),
    }),
    endpoint({
      id: "getCampaign",
      method: "GET",
      path: "/campaigns/{id}",
      summary: "One campaign with its content, settings and counts",
      needs: need(campaigns, "read"),
      answer: Campaign,
      message: "Campaign",
      handle: ({ caller, params }) => requireCampaign(db, caller.workspaceId, params.id),
    }),
    endpoint({
      id: "replaceCampaign",
      method: "PUT",
      path: "/campaigns/{id}",
      mayTakeLong: "reading",
      summary: "Replace a draft; what is omitted returns to its default",
      needs: need(campaigns, "write"),
      body: NewCampaign,
      answer: Campaign,
      message: "Campaign updated",
      bodyLimit: BODY_LIMIT,
      errors: ["CONFLICT", "PLAN_LIMIT_REACHED"],
      handle: ({ caller, params, body }) => replaceCampaign(deps, caller, params.id, body),
    }),
    endpoint({
      id: "deleteCampaign",
      method: "DELETE",
      path: "/campaigns/{id}",
      mayTakeLong: "reading",
      summary: "Delete a campaign that is not being sent; its messages stay in the log",
      needs: need(campaigns, "write"),
      answer: Deleted,
      message: "Campaign deleted",
      errors: ["CONFLICT"],
      async handle({ caller, params }) {
        await deleteCampaign(deps, caller.workspaceId, params.id);
        return { id: params.id, deleted: true } as const;
      },
    }),
    endpoint({
      id: "sendCampaign",
      method: "POST",
      path: "/campaigns/{id}/send",
      summary: "Send a draft now, or at its time when that lies ahead",
      needs: need(campaigns, "send"),
      body: SendOrder,
      bodyMayBeAbsent: true,
      answer: Campaign,
      message: (campaign) =>
        campaign.status === "scheduled" ? "Campaign scheduled" : "Campaign is being sent",
      idempotent: true,
      errors: ["CONFLICT", "BAD_REQUEST", "EMAIL_NOT_VERIFIED", "PLAN_LIMIT_REACHED", "INSUFFICIENT_BALANCE"],
      handle: (request) => sendCampaign(deps, request),
    }),
    endpoint({
      id: "pauseCampaign",
      method: "POST",
      path: "/campaigns/{id}/pause",
      summary: "Pause a campaign that is being sent: conversations under way end, no other begins",
      needs: need(campaigns, "send"),
      answer: Campaign,
      message: "Campaign paused",
      errors: ["CONFLICT"],
      handle: ({ caller, params }) => pause(deps, caller.workspaceId, params.id),
    }),
    endpoint({
      id: "resumeCampaign",
      method: "POST",
      path: "/campaigns/{id}/resume",
      summary: "Go on with a paused campaign where it stopped",
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
      summary: "End a campaign for good; messages that were not sent are cancelled",
      needs: need(campaigns, "send"),
      answer: Campaign,
      message: "Campaign cancelled",
      errors: ["CONFLICT"],
      handle: ({ caller, params }) => cancel(deps, caller.workspaceId, params.id),
    }),
    endpoint({
      id: "unscheduleCampaign",
      method: "POST",
      path: "/campaigns/{id}/unschedule",
      summary: "Make a scheduled campaign a draft again",
      needs: need(campaigns, "send"),
      answer: Campaign,
      message: "Campaign is a draft again",
      errors: ["CONFLICT"],
      handle: ({ caller, params }) => unschedule(deps, caller.workspaceId, params.id),
    }),
    endpoint({
      id: "duplicateCampaign",
      method: "POST",
      path: "/campaigns/{id}/duplicate",
      summary: "Make a new draft of a campaign in any state",
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
      summary: "Send the mail to a few addresses, to look at it",
      needs: need(campaigns, "send"),
      body: TestOrder,
      answer: TestSent,
      message: "Test sent",
      errors: ["BAD_REQUEST", "EMAIL_NOT_VERIFIED", "PLAN_LIMIT_REACHED", "INSUFFICIENT_BALANCE"],
      handle: ({ caller, params, body, requestId }) =>
        sendTest(deps, { caller, requestId }, params.id, body.emails),
    }),
  ];
}
