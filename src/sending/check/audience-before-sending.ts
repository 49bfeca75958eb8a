/** Counts the people who would get a campaign if it were sent now, and those who would not, by reason, with the rules of the expansion. */
import { countMembersIn } from "#audience/segments/members-store.ts";
import type { Database } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { findAudience, lookAt } from "#sending/campaigns/audience/find-audience.ts";
import { countExclusions, countInactive } from "#sending/campaigns/audience/recipients-store.ts";
import type { AudienceOf } from "#sending/campaigns/audience-segments.ts";
import type { AudienceBeforeSending } from "./campaign-check.ts";

/** For one statement. */
const MOST_LOOK_MS = 5_000;
/** People who are looked up one by one: about two seconds of work. */
const MOST_LOOKED_AT = 100_000;

export type AudienceCount =
  | { readonly outcome: "counted"; readonly audience: AudienceBeforeSending }
  | { readonly outcome: "missing" }
  | { readonly outcome: "failed"; readonly reason: string };

export async function countAudience(
  db: Database,
  workspaceId: WorkspaceId,
  campaign: AudienceOf,
  now: Date,
): Promise<AudienceCount> {
  try {
    return await lookAt(db, workspaceId, campaign, MOST_LOOK_MS, async (tx) => {
      const found = await findAudience(tx, workspaceId, campaign, now);
      if (found === undefined) return { outcome: "missing" as const };
      const { people, list, terms } = found;
      const asked = await countMembersIn(tx, people);
      const share = asked <= MOST_LOOKED_AT ? 1 : MOST_LOOKED_AT / asked;
      const sample = await countExclusions(tx, workspaceId, people, { ...terms, share });
      // The relation of a whole list has its active members only.
      const isWholeList = campaign.recipient_type === "mailing_list" && list !== null;
      const inactive = isWholeList
        ? await countInactive(tx, workspaceId, list.id)
        : { suppressed: 0, unsubscribed: 0, invalid: 0 };
      const present = share === 1 ? sample.looked : asked;
      const projected = (part: number) =>
        share === 1 || sample.looked === 0 ? part : Math.round((part / sample.looked) * asked);
      const [suppressed, unsubscribed, invalid] = [
        projected(sample.suppressed),
        projected(sample.unsubscribed),
        projected(sample.invalid),
      ];
      const willSend = Math.max(0, present - suppressed - unsubscribed - invalid);
      const excluded = {
        suppressed: suppressed + inactive.suppressed,
        unsubscribed: unsubscribed + inactive.unsubscribed,
        invalid: invalid + inactive.invalid,
      };
      const all = excluded.suppressed + excluded.unsubscribed + excluded.invalid;
      const audience = {
        total: willSend + all,
        will_send: willSend,
        excluded: { total: all, ...excluded },
        is_estimate: share < 1,
      };
      return { outcome: "counted" as const, audience };
    });
  } catch (fault) {
    if (fault instanceof ApiError) return { outcome: "failed", reason: fault.message };
    throw fault;
  }
}
