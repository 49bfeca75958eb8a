/**
 * Asks those who may send for approval of a draft. The draft passes the checks of sending, so that it can be sent
 * when it is approved. A request is about one revision: a change of the draft ends it, and so does sending.
 */
import { type Static, Type } from "typebox";
import { ApiError, required } from "#platform/errors.ts";
import type { EndpointRequest } from "#platform/http/endpoint.ts";
import { type ResponseStored, storeResponseIn } from "#platform/http/idempotency/idempotency.ts";
import { omittable } from "#platform/shapes.ts";
import { findCampaign } from "#sending/campaigns/store.ts";
import { askForApproval } from "#sending/campaigns/transitions-store.ts";
import { type CampaignDeps, requireCampaign } from "./lifecycle.ts";
import { checkSendable } from "./send-checks.ts";

const LONGEST_MESSAGE = 1_000;

export const ApprovalRequest = Type.Object(
  {
    message: omittable(
      Type.String({
        maxLength: LONGEST_MESSAGE,
        description: `What those who approve should know, at most ${LONGEST_MESSAGE} characters.`,
      }),
    ),
  },
  { $id: "ApprovalRequest" },
);

/** @throws ApiError NOT_FOUND, CONFLICT unless it is a draft, and what checkSendable throws */
export async function requestApproval(
  deps: CampaignDeps,
  {
    caller,
    params: { id },
    body,
    idempotency,
  }: EndpointRequest<{ id: string }, unknown, Static<typeof ApprovalRequest>>,
): Promise<ResponseStored> {
  const { db, clock } = deps;
  const { workspaceId, actor } = caller;
  const now = clock.now();
  const campaign = required(await findCampaign(db, workspaceId, id), "Campaign");
  if (campaign.status !== "draft") {
    throw new ApiError(
      "CONFLICT",
      `The campaign is ${campaign.status}: approval can only be asked for a draft`,
    );
  }
  if (campaign.approval_requested_at === null) await checkSendable(deps, caller, campaign, now);
  const message = body.message?.trim() || null;
  return db.transaction(async (tx) => {
    const isAsked = await askForApproval(tx, workspaceId, campaign, { by: actor.name, message, now });
    const asked = await requireCampaign(tx, workspaceId, id);
    if (!isAsked && (asked.approval_requested_at === null || asked.revision !== campaign.revision)) {
      throw new ApiError(
        "CONFLICT",
        "Another request has sent or changed the campaign. Read it and try again.",
      );
    }
    return storeResponseIn(tx, idempotency, asked);
  });
}
