/** Counts the people who would get a campaign if it were sent now, and those who would not, by reason, with the rules of the expansion. */
import type { CountryCode } from "libphonenumber-js";
import { countMembersIn } from "#audience/segments/members-store.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import { nilId, type WorkspaceId } from "#platform/ids.ts";
import { inTime } from "#platform/in-time.ts";
import type { AudienceOf } from "#sending/campaigns/audience-segments.ts";
import type { Campaign } from "#sending/campaigns/campaign.ts";
import { findUnreachable } from "#sending/sms/audience-phone-numbers-store.ts";
import { type CampaignAudience, findAudience, lookAt } from "./find-audience.ts";
import {
  type AudienceSample,
  choosePeople,
  chosenSql,
  countExclusions,
  countInactive,
  someOf,
} from "./recipients-store.ts";

const MOST_STATEMENT_MS = 5_000;
/** People who are looked up one by one: about two seconds of work. */
const MOST_LOOKED_AT = 100_000;
/** People whose telephone number is parsed, which takes longer. */
const MOST_NUMBERS = 20_000;

/** Numbers of people. */
interface CountedAudience {
  readonly total: number;
  readonly will_send: number;
  readonly excluded: {
    readonly total: number;
    readonly suppressed: number;
    readonly unsubscribed: number;
    readonly invalid: number;
  };
  /** Whether the exclusions are projected from a random sample. */
  readonly is_estimate: boolean;
}

export type AudienceCount =
  | { readonly outcome: "counted"; readonly audience: CountedAudience }
  | { readonly outcome: "missing" }
  | { readonly outcome: "failed"; readonly reason: string };

interface CountingTerms {
  readonly now: Date;
  readonly smsCountry: CountryCode | null;
  readonly totalMs?: number;
}

type Addressed = AudienceOf & Pick<Campaign, "message_type" | "phone_field_name">;

/**
 * @param smsCountry the country of telephone numbers without a country code
 * @param totalMs the outcome is `failed` after this time; by default only each statement has a limit
 */
export async function countAudience(
  db: Database,
  workspaceId: WorkspaceId,
  campaign: Addressed,
  { now, smsCountry, totalMs }: CountingTerms,
): Promise<AudienceCount> {
  try {
    const counted = lookAt(db, workspaceId, campaign, totalMs ?? MOST_STATEMENT_MS, async (tx) => {
      const found = await findAudience(tx, workspaceId, campaign, now);
      if (found === undefined) return { outcome: "missing" as const };
      const { people, list } = found;
      const asked = await countMembersIn(tx, people);
      const { share, ...sample } = await look(tx, workspaceId, found, { campaign, asked, smsCountry });
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
    return await (totalMs === undefined ? counted : inTime(totalMs, counted));
  } catch (fault) {
    if (fault instanceof ApiError) return { outcome: "failed", reason: fault.message };
    throw fault;
  }
}

/** Who of the audience gets nothing, among all of its people or a random part of them, with the share of that part. */
async function look(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { people, terms }: CampaignAudience,
  {
    campaign: { message_type, phone_field_name: fieldName },
    asked,
    smsCountry: country,
  }: { readonly campaign: Addressed; readonly asked: number; readonly smsCountry: CountryCode | null },
): Promise<AudienceSample & { readonly share: number }> {
  const isSms = message_type === "sms" && fieldName !== null;
  const most = isSms ? MOST_NUMBERS : MOST_LOOKED_AT;
  const share = Math.min(1, most / Math.max(1, asked));
  if (!isSms) return { share, ...(await countExclusions(tx, workspaceId, someOf(people, share), terms, [])) };
  // Chosen once, because a random part is another one each time that it is read.
  const chosen = chosenSql(
    await choosePeople(tx, someOf(people, share), { after: nilId, size: MOST_NUMBERS }),
  );
  const unreachable = await findUnreachable(tx, workspaceId, chosen, { fieldName, country });
  return { share, ...(await countExclusions(tx, workspaceId, chosen, terms, unreachable)) };
}
