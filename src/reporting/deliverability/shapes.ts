/** Shapes of the deliverability report. */
import { Type } from "typebox";
import { NullableTimestamp, nullable, Timestamp } from "#platform/shapes.ts";
import { GooglePostmaster } from "#reporting/google-postmaster/report.ts";

const ofSent = Type.Number({ description: "Per message sent in the window, 0 to 1." });
const ofDelivered = Type.Number({ description: "Per message delivered in the window, 0 to 1." });
const Percent = Type.Number({ description: "0 to 100." });
const Score = Type.Integer({ description: "0 to 100; 100 when nothing was sent." });

const reputationFields = {
  sent: Type.Integer(),
  delivered: Type.Integer(),
  bounced: Type.Integer(),
  complained: Type.Integer(),
  delivery_rate: ofSent,
  bounce_rate: ofSent,
  complaint_rate: ofDelivered,
  score: Score,
  blacklist_listed_count: nullable(
    Type.Integer({ description: "Blacklists that list it; null without a blacklist monitor." }),
  ),
  last_checked_at: NullableTimestamp,
};

export const Deliverability = Type.Object(
  {
    overall_metrics: Type.Object({
      total_sent_24h: Type.Integer(),
      total_sent_7d: Type.Integer(),
      total_sent_30d: Type.Integer(),
      total_sent: Type.Integer({ description: "In the window." }),
      delivered: Type.Integer(),
      delivery_rate: ofSent,
      bounce_rate: ofSent,
      hard_bounce_rate: ofSent,
      soft_bounce_rate: ofSent,
      complaint_rate: ofDelivered,
      open_rate: ofDelivered,
      click_rate: ofDelivered,
      health_score: Score,
      ip_count: Type.Integer({ description: "Source addresses ever used." }),
      domain_count: Type.Integer({ description: "Domains ever used in From." }),
    }),
    ip_reputations: Type.Array(Type.Object({ ip: Type.String(), ...reputationFields })),
    domain_reputations: Type.Array(Type.Object({ domain: Type.String(), ...reputationFields })),
    bounce_breakdown: Type.Object({
      hard: Type.Integer(),
      soft: Type.Integer(),
      block: Type.Integer(),
      by_category: Type.Array(
        Type.Object({ category: Type.String(), count: Type.Integer(), percent: Percent }),
      ),
    }),
    google_postmaster: GooglePostmaster,
    sends_via_shared_pool: Type.Boolean({
      description:
        "True when the workspace has no active sending IP: its mail leaves from the shared addresses.",
    }),
    window_days: Type.Integer({ description: "As applied." }),
    last_updated: Timestamp,
  },
  { $id: "Deliverability" },
);
