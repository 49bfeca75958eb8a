/** The progress of a campaign as answers and live events show it: counts that add up, the rate, and what limits it. */
import { type Static, Type } from "typebox";
import { described, Id, NullableTimestamp, nullable } from "#platform/shapes.ts";
import { campaignStatuses } from "#sending/campaigns/campaign.ts";
import type { PauseReason } from "#sending/campaigns/transitions-store.ts";
import { type ProgressRow, RATE_SECONDS } from "./store.ts";

const count = (description: string) => Type.Integer({ minimum: 0, description });

const limitingCauses = [
  "scheduled",
  "paused",
  "plan_limit",
  "balance",
  "workspace_suspended",
  "hourly_cap",
  "warm_up",
  "sending_ip",
  "provider",
  "preparing",
] as const;
type LimitingCause = (typeof limitingCauses)[number];

export const CampaignCounts = Type.Object(
  {
    preparing: count(
      "People of the audience who were not processed yet; an estimate. 0 once `is_total_final` is true.",
    ),
    waiting: count("Messages that wait for their first attempt."),
    in_delivery: count("Messages that a delivery worker has taken and not finished."),
    deferred: count("Messages that a receiving server has deferred; they are tried again."),
    delivered: count("Messages that the receiving server has accepted, those complained about included."),
    bounced: count("Messages that were refused for good."),
    failed: count("Messages that could not be sent in time."),
    suppressed: count("Messages that were not sent because the address was suppressed after they were made."),
    cancelled: count("Messages that were cancelled before they were sent."),
  },
  { $id: "CampaignCounts", description: "Each person of the audience in exactly one state." },
);

const ExcludedPeople = Type.Object(
  {
    total: count("The sum of the reasons."),
    suppressed: count("People on a suppression list."),
    unsubscribed: count("People who have unsubscribed."),
    invalid: count("People whose address bounced, or who have no usable telephone number."),
    duplicate: count("People who are in the audience more than once."),
  },
  { $id: "ExcludedPeople", description: "People in the audience who get no message, by reason." },
);

const LimitedBy = Type.Object(
  {
    cause: Type.Enum([...limitingCauses], {
      description:
        "`provider`: receiving servers defer mail. `warm_up`: the daily quota of a new sending IP is used up. `sending_ip`: the machine that has the sending IP is not sending. `preparing`: the audience is still being processed.",
    }),
    text: Type.String({ description: "One sentence for people." }),
    pause_reason: nullable(
      Type.String({ description: "Why the service paused it; null when a person did, or it is not paused." }),
    ),
  },
  { $id: "CampaignLimitedBy" },
);

/** What the live event has, and the answer too. */
const liveFields = {
  id: Id,
  status: Type.Enum([...campaignStatuses], { description: "The status of the campaign." }),
  total: count("All people of the audience who get a message; an estimate until `is_total_final`."),
  is_total_final: Type.Boolean({ description: "Whether the whole audience has been processed." }),
  counts: CampaignCounts,
  excluded: ExcludedPeople,
  attempted: count("Messages that had their first attempt, whatever its result."),
  opened: count("Messages that a person opened or clicked."),
  clicked: count("Messages with a link that a person clicked."),
  unsubscribed: count("Messages whose recipient unsubscribed."),
  complained: count("Messages that were reported as spam."),
  rate_per_minute: count(`Messages delivered, bounced or failed in the last ${RATE_SECONDS} seconds.`),
  eta: described(
    NullableTimestamp,
    "When the last waiting message is sent at this rate; null when the campaign is not sending, or nothing moves.",
  ) as typeof NullableTimestamp,
  limited_by: described(
    nullable(LimitedBy),
    "Why the campaign is not faster; null when it sends as fast as workers and receiving servers allow.",
  ) as ReturnType<typeof nullable<typeof LimitedBy>>,
};

export const CampaignLive = Type.Object(liveFields, { $id: "CampaignLive" });

const LastDeferralShape = Type.Object(
  {
    time: Type.String({ format: "date-time", description: "When the server answered." }),
    domain: nullable(Type.String({ description: "Domain of the recipient." })),
    mx_host: nullable(Type.String({ description: "The server that answered; null when none was reached." })),
    code: nullable(Type.Integer({ description: "SMTP reply code." })),
    enhanced_code: nullable(Type.String({ description: "Enhanced status code (RFC 3463)." })),
    text: nullable(Type.String({ description: "The reply, or why no server was reached." })),
  },
  { $id: "LastDeferral" },
);

const DomainCounts = {
  queued: count("Messages that wait for their first attempt or are being sent."),
  deferred: count("Messages that were deferred."),
  delivered: count("Messages that the receiving server has accepted."),
  bounced: count("Messages that were refused for good."),
  failed: count("Messages that could not be sent in time."),
  suppressed: count("Messages that were suppressed after they were made."),
  cancelled: count("Messages that were cancelled."),
};

export const CampaignProgress = Type.Object(
  {
    ...liveFields,
    sent_at: described(NullableTimestamp, "When sending began.") as typeof NullableTimestamp,
    completed_at: described(
      NullableTimestamp,
      "When the last message had its first attempt, or the campaign was cancelled.",
    ) as typeof NullableTimestamp,
    last_deferral: described(
      nullable(LastDeferralShape),
      "The newest answer of the last five minutes that deferred a message.",
    ) as ReturnType<typeof nullable<typeof LastDeferralShape>>,
    domains: Type.Array(
      Type.Object({ domain: Type.String({ description: "Domain of the recipients." }), ...DomainCounts }),
      { description: "The receiving domains with the most messages, largest first; at most 20." },
    ),
    other_domains: Type.Object(
      { domains: count("How many domains `domains` does not list."), ...DomainCounts },
      { description: "All other domains together." },
    ),
    as_of: Type.Unsafe<Date>(Type.String({ format: "date-time", description: "The time of these figures." })),
  },
  { $id: "CampaignProgress" },
);

/** The figures of a campaign at a time. */
export function liveProgress(row: ProgressRow, now: Date): Static<typeof CampaignLive> {
  const { excluded_suppressed, excluded_unsubscribed, excluded_invalid, excluded_duplicate } = row;
  const excluded = excluded_suppressed + excluded_unsubscribed + excluded_invalid + excluded_duplicate;
  const counts = countsOf(row);
  const total = Object.values(counts).reduce((sum, one) => sum + one, 0);
  const unsent = counts.preparing + counts.waiting + counts.in_delivery;
  const moves = row.status === "sending" && row.finished_lately > 0 && unsent > 0;
  return {
    id: row.id,
    status: row.status,
    total,
    is_total_final: row.is_expanded || row.status === "cancelled",
    counts,
    excluded: {
      total: excluded,
      suppressed: excluded_suppressed,
      unsubscribed: excluded_unsubscribed,
      invalid: excluded_invalid,
      duplicate: excluded_duplicate,
    },
    attempted: row.sent,
    opened: row.unique_opens,
    clicked: row.unique_clicks,
    unsubscribed: row.unsubscribed,
    complained: row.complained,
    rate_per_minute: row.finished_lately,
    eta: moves ? soonest(now, (unsent / row.finished_lately) * RATE_SECONDS) : null,
    limited_by: limitedBy(row, counts),
  };
}

/** In whole seconds, so that an unchanged estimate is an equal one. */
function soonest(now: Date, seconds: number): Date {
  return new Date((Math.floor(now.getTime() / 1_000) + Math.ceil(seconds)) * 1_000);
}

function countsOf(row: ProgressRow): Static<typeof CampaignCounts> {
  const { queued, deferred, bounced, failed, suppressed, cancelled } = row;
  const delivered = row.delivered + row.complained;
  const heldNew = Math.min(row.held_new, queued);
  const heldAgain = Math.min(row.held_again, deferred);
  const made = queued + deferred + delivered + bounced + failed + suppressed + cancelled;
  const isOver = row.is_expanded || row.status === "cancelled";
  return {
    preparing: isOver ? 0 : Math.max(0, row.estimated_recipients - made),
    waiting: queued - heldNew,
    in_delivery: heldNew + heldAgain,
    deferred: deferred - heldAgain,
    delivered,
    bounced,
    failed,
    suppressed,
    cancelled,
  };
}

const pauseTexts: Readonly<Record<PauseReason, string>> = {
  plan_limit_reached: "The messages of the plan are used up. Change the plan, then resume the campaign.",
  insufficient_balance: "The balance is used up. Top it up, then resume the campaign.",
  missed_schedule: "Its time was missed by more than six hours. Resume it to send it now.",
  bounce_rate: "Too many addresses do not exist. Clean the list, then resume the campaign.",
  complaint_rate: "Too many recipients reported the mail as spam.",
  delivery_failures: "Many messages in a row failed on our side. Check the delivery of this machine.",
  sender_not_verified: "The sender is no longer verified. Verify its domain or address, then resume.",
  audience_missing: "Its mailing list or segment was deleted.",
  audience_too_costly: "The conditions of its audience take too long. Use simpler conditions.",
  audience_failed: "Its audience could not be processed. Resume it to try again.",
  content_invalid: "Its content can no longer be rendered. Duplicate it and correct the content.",
};

/** One sentence for a pause; @param reason null when a person paused it */
export function pauseText(reason: string | null): string {
  if (reason === null) return "A person or a key has paused it. Resume it to continue.";
  return pauseTexts[reason as PauseReason] ?? `The service has paused it: ${reason}.`;
}

const pauseCauses: Readonly<Record<string, LimitingCause>> = {
  plan_limit_reached: "plan_limit",
  insufficient_balance: "balance",
};

function limitedBy(row: ProgressRow, counts: Static<typeof CampaignCounts>): Static<typeof LimitedBy> | null {
  if (row.status === "paused") {
    const cause = pauseCauses[row.pause_reason ?? ""] ?? "paused";
    return { cause, text: pauseText(row.pause_reason), pause_reason: row.pause_reason };
  }
  const because = (cause: LimitingCause, text: string) => ({ cause, text, pause_reason: null });
  if (row.status === "scheduled") return because("scheduled", "It waits for its time.");
  const isOpen = counts.waiting + counts.in_delivery + counts.deferred + counts.preparing > 0;
  if (!isOpen || (row.status !== "sending" && row.status !== "sent")) return null;
  if (row.is_suspended) return because("workspace_suspended", "The workspace is suspended.");
  if (row.waits_for_cap) {
    return because(
      "hourly_cap",
      "The workspace's messages of this hour are used up. It continues next hour.",
    );
  }
  if (row.held_back === "warm_up") {
    return because("warm_up", "The daily quota of the new sending IP is used up. It continues tomorrow.");
  }
  if (row.held_back === "sending_ip") {
    return because("sending_ip", "The machine that has the sending IP is not sending now.");
  }
  if (isDeferred(row, counts)) return because("provider", providerText(row));
  return counts.waiting === 0 && counts.preparing > 0
    ? because("preparing", "The audience is still being processed.")
    : null;
}

/** Whether receiving servers deferred a tenth of the messages, or nothing else is left. */
function isDeferred(row: ProgressRow, counts: Static<typeof CampaignCounts>): boolean {
  if (counts.deferred === 0) return false;
  if (counts.waiting + counts.in_delivery + counts.preparing === 0) return true;
  return row.deferred_lately > 0 && row.deferred_lately * 10 >= row.finished_lately;
}

/** Without the text of the reply, which may contain an address. */
function providerText({ last_deferral: last }: ProgressRow): string {
  if (last === null) return "Receiving servers have deferred mail. It is tried again.";
  const codes = [last.code, last.enhanced_code].filter((code) => code !== null).join(" ");
  const who = last.domain ?? "A receiving server";
  if (codes === "") return `${who} cannot be reached now. The mail is tried again.`;
  return `${who} defers mail (${codes}). It is tried again.`;
}
