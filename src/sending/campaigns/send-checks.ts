/**
 * What has to be right when a campaign is sent (decisions, section 8 row 12), whatever was right when it was written: the
 * list may have gone since, the domain may have lost its verification.
 */
import { findMailingList } from "../../audience/mailing-lists/store.ts";
import { withDeadline } from "../../audience/segments/members-store.ts";
import { maySendAs } from "../../identity/may-send-as.ts";
import type { Database } from "../../platform/database/pool.ts";
import { ApiError, type FieldFault, invalid } from "../../platform/errors.ts";
import type { Caller } from "../../platform/http/endpoint.ts";
import type { WorkspaceId } from "../../platform/ids.ts";
import { findAudience } from "./audience.ts";
import type { Campaign } from "./campaign.ts";
import { compileFor } from "./content.ts";
import { isAnybodyIn } from "./recipients-store.ts";
import { tracksOf } from "./tracking.ts";

/** Conditions may be as costly as their author likes; it is enough to find one recipient. */
const MOST_LOOK_MS = 5_000;

export interface SendChecks {
  readonly db: Database;
  /**
   * Throws when the plan or the balance does not allow the workspace one message more; null where nothing is charged.
   * Whoever counts while a campaign is under way pauses it (transitions-store.ts, pauseCampaign).
   */
  readonly requireAllowance: ((workspaceId: WorkspaceId) => Promise<void>) | null;
}

/**
 * Gives what the content has to warn of.
 * @throws ApiError VALIDATION_ERROR, BAD_REQUEST without recipients, EMAIL_NOT_VERIFIED, PLAN_LIMIT_REACHED or
 * INSUFFICIENT_BALANCE
 */
export async function checkSendable(
  { db, requireAllowance }: SendChecks,
  { workspaceId, timezone }: Pick<Caller, "workspaceId" | "timezone">,
  campaign: Campaign,
  now: Date,
): Promise<Campaign["warnings"]> {
  if (campaign.message_type === "sms") throw new ApiError("BAD_REQUEST", "No SMS gateway is configured");
  if (campaign.html_content === null && campaign.text_content === null) {
    throw invalid({ field: "html_content", message: "html_content or text_content is required to send" });
  }
  const audience = await findAudience(db, workspaceId, campaign, now);
  if (audience === undefined) throw invalid(missingAudience(campaign));
  const list = audience.list && (await findMailingList(db, workspaceId, audience.list.id));
  const compiled = await compileFor(
    db,
    workspaceId,
    { ...campaign, ...tracksOf(campaign, list ?? undefined) },
    { listId: list?.id ?? null, timezone },
  );
  if (!compiled.ok) {
    const [first, ...rest] = compiled.faults;
    throw first === undefined ? new ApiError("VALIDATION_ERROR") : invalid(first, ...rest);
  }
  const { people } = audience;
  if (!(await withDeadline(db, workspaceId, MOST_LOOK_MS, (tx) => isAnybodyIn(tx, people)))) {
    throw new ApiError("BAD_REQUEST", "The campaign has no recipients: nobody of its audience is active");
  }
  if (!(await maySendAs(db, workspaceId, campaign.from_email)).allowed) {
    throw new ApiError("EMAIL_NOT_VERIFIED", `from_email ${campaign.from_email} is not verified any more`);
  }
  await requireAllowance?.(workspaceId);
  return compiled.warnings.map(({ field, line, column, message }) => ({ field, line, column, message }));
}

function missingAudience({ recipient_type, mailing_list_id }: Campaign): FieldFault {
  if (recipient_type === "segment") {
    return { field: "segment_id", message: "segment_id is no segment of this workspace" };
  }
  const problem = mailing_list_id === null ? "is required to send" : "is no mailing list of this workspace";
  return { field: "mailing_list_id", message: `mailing_list_id ${problem}` };
}
