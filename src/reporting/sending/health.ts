/**
 * The sending health of a workspace: its bounce and complaint rates against the limits at which Amazon SES reviews and
 * pauses accounts.
 */
import { type Static, Type } from "typebox";
import { healthScore, PAUSED_AT } from "#audience/mailing-lists/stats-from-daily-counters.ts";
import type { Counts } from "#messages/counters/counters.ts";
import { fraction } from "#platform/fraction.ts";
import { described, Timestamp } from "#platform/shapes.ts";
import { attemptedOf, deliveredOf } from "#reporting/counters/rates.ts";

const thresholds = {
  bounce: { warning: 0.05, critical: PAUSED_AT.bounce_rate },
  complaint: { warning: 0.001, critical: PAUSED_AT.complaint_rate },
} as const;

const Threshold = Type.Object({
  warning: Type.Number({ description: "Rate from which the status is `warning`, 0 to 1." }),
  critical: Type.Number({ description: "Rate from which the status is `critical`, 0 to 1." }),
});
const Severity = Type.Enum(["warning", "critical"]);

export const Health = Type.Object(
  {
    status: Type.Enum(["healthy", "warning", "critical"], {
      description: "The worse of the two rates against its limits.",
    }),
    score: Type.Integer({ description: "0 to 100; 100 when nothing was sent." }),
    window_days: Type.Integer({ description: "Days up to now that count." }),
    total_sent: Type.Integer({ description: "Messages with at least one finished attempt." }),
    delivery_rate: Type.Number({ description: "Of those sent, 0 to 1." }),
    bounce_rate: Type.Number({ description: "Of those sent, 0 to 1." }),
    complaint_rate: Type.Number({ description: "Of those delivered, 0 to 1." }),
    thresholds: Type.Object(
      {
        bounce: described(Threshold, "Limits of the bounce rate."),
        complaint: described(Threshold, "Limits of the complaint rate."),
      },
      { description: "The limits of each rate." },
    ),
    issues: Type.Array(
      Type.Object({
        code: Type.Enum(["high_bounce_rate", "high_complaint_rate"], { description: "Which rate it is." }),
        severity: described(Severity, "Which limit it is beyond."),
        message: Type.String({ description: "What is wrong and what to do, for people." }),
      }),
      { description: "The rates that are beyond a limit; empty if all is well." },
    ),
    updated_at: described(Timestamp, "Time of the figures, in UTC."),
  },
  { $id: "SendingHealth" },
);

type Issue = Static<typeof Health>["issues"][number];

export function healthOf(counts: Counts, window_days: number, updated_at: Date): Static<typeof Health> {
  const total_sent = attemptedOf(counts);
  const delivered = deliveredOf(counts);
  const rates = {
    delivery_rate: fraction(delivered, total_sent),
    bounce_rate: fraction(counts.bounced, total_sent),
    complaint_rate: fraction(counts.complained, delivered),
  };
  const issues = [
    issueOf("bounce", rates.bounce_rate, "remove addresses that bounce, and validate lists before sending"),
    issueOf(
      "complaint",
      rates.complaint_rate,
      "write only to people who subscribed, and make unsubscribing easy",
    ),
  ].filter((issue) => issue !== undefined);
  return {
    status: statusOf(issues),
    score: scoreOf(counts),
    window_days,
    total_sent,
    ...rates,
    thresholds,
    issues,
    updated_at,
  };
}

/** The score of a mailing list (stats-from-daily-counters.ts), for these counts; 100 when nothing was sent. */
export function scoreOf(counts: Counts): number {
  const sent = attemptedOf(counts);
  const delivered = deliveredOf(counts);
  if (sent === 0) return 100;
  return healthScore({
    engagement_rate: fraction(counts.unique_opens, delivered),
    bounce_rate: fraction(counts.bounced, sent),
    complaint_rate: fraction(counts.complained, delivered),
  });
}

function issueOf(kind: keyof typeof thresholds, rate: number, advice: string): Issue | undefined {
  const { warning, critical } = thresholds[kind];
  if (rate < warning) return undefined;
  const severity = rate >= critical ? "critical" : "warning";
  const limit = severity === "critical" ? critical : warning;
  const message = `The ${kind} rate is ${shown(rate)}, above ${shown(limit)}: ${advice}`;
  return { code: `high_${kind}_rate`, severity, message };
}

function shown(rate: number): string {
  return `${Number((100 * rate).toFixed(2))} %`;
}

function statusOf(issues: readonly Issue[]): Static<typeof Health>["status"] {
  if (issues.some(({ severity }) => severity === "critical")) return "critical";
  return issues.length > 0 ? "warning" : "healthy";
}
