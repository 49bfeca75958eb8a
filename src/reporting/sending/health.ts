/**
 * The sending health of a workspace: its bounce and complaint rates against the limits at which Amazon SES reviews and
 * pauses accounts.
 */
import { type Static, Type } from "typebox";
import { healthScore, PAUSED_AT } from "#audience/mailing-lists/stats-from-daily-counters.ts";
import type { Counts } from "#messages/counters/counters.ts";
import { fraction } from "#platform/fraction.ts";
import { Timestamp } from "#platform/shapes.ts";
import { attemptedOf, deliveredOf } from "#reporting/counters/rates.ts";

const thresholds = {
  bounce: { warning: 0.05, critical: PAUSED_AT.bounce_rate },
  complaint: { warning: 0.001, critical: PAUSED_AT.complaint_rate },
} as const;

const Threshold = Type.Object({ warning: Type.Number(), critical: Type.Number() });
const Severity = Type.Enum(["warning", "critical"]);

export const Health = Type.Object(
  {
    status: Type.Enum(["healthy", "warning", "critical"]),
    score: Type.Integer({ description: "0 to 100; 100 when nothing was sent." }),
    window_days: Type.Integer(),
    total_sent: Type.Integer({ description: "Messages with at least one finished attempt." }),
    delivery_rate: Type.Number({ description: "Of those sent, 0 to 1." }),
    bounce_rate: Type.Number({ description: "Of those sent, 0 to 1." }),
    complaint_rate: Type.Number({ description: "Of those delivered, 0 to 1." }),
    thresholds: Type.Object({ bounce: Threshold, complaint: Threshold }),
    issues: Type.Array(
      Type.Object({
        code: Type.Enum(["high_bounce_rate", "high_complaint_rate"]),
        severity: Severity,
        message: Type.String(),
      }),
    ),
    updated_at: Timestamp,
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
