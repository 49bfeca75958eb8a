/** Gives a tracked link of sent mail a new target: the address in the mail stays, and the click route leads elsewhere. */
import { changedFields } from "#platform/audit/changed-fields.ts";
import { describeAudit } from "#platform/audit/pending-event.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { ApiError, invalid, required } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { requireCampaignState } from "#sending/campaigns/lifecycle/lifecycle.ts";
import { linkTarget } from "#tracking/click-route.ts";
import { type LinkRow, lockLink, setLinkTarget } from "./store.ts";

export interface LinkChange {
  readonly index: number;
  /** null: to the URL that the mail was sent with. */
  readonly target_url: string | null;
}

const TAG = /\{\{|\{%/;

/**
 * @throws ApiError VALIDATION_ERROR for a target that a click cannot lead to; NOT_FOUND; CONFLICT for a campaign that has not
 *   been sent, and for a link with merge tags, whose targets are in the mails
 */
export async function changeLinkTarget(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  workspaceId: WorkspaceId,
  campaignId: string,
  { index, target_url }: LinkChange,
): Promise<LinkRow> {
  const target = target_url === null ? null : readTarget(target_url);
  const { name, status, sent_at } = await requireCampaignState(db, workspaceId, campaignId);
  if (sent_at === null) {
    throw new ApiError(
      "CONFLICT",
      `The campaign is ${status} and no mail has left: change the link in its content`,
    );
  }
  return db.transaction(async (tx) => {
    const link = required(await lockLink(tx, workspaceId, campaignId, index), "Link of this campaign");
    if (link.is_personal) {
      throw new ApiError(
        "CONFLICT",
        "The link has merge tags: each mail carries the target of its recipient, which cannot be changed",
      );
    }
    const targetUrl = target === link.url ? null : target;
    const before = { target_url: link.target_url ?? link.url };
    describeAudit({
      resource: { id: campaignId, name },
      changes: changedFields(before, { index, target_url: targetUrl ?? link.url }, {}, false),
    });
    if (targetUrl === link.target_url) return link;
    const changedAt = targetUrl === null ? null : clock.now();
    await setLinkTarget(tx, workspaceId, { campaignId, index }, targetUrl, changedAt);
    return { ...link, target_url: targetUrl, target_changed_at: changedAt };
  });
}

/** The target as the click route gives it to browsers. @throws ApiError VALIDATION_ERROR */
function readTarget(given: string): string {
  const fault = (message: string) => invalid({ field: "target_url", message });
  if (TAG.test(given)) throw fault("target_url cannot have merge tags: it is the same for all recipients");
  const target = linkTarget(given);
  if (target === null) throw fault("target_url must be an http or https address, or null for the link's own");
  return target;
}
