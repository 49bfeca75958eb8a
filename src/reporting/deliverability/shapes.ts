/** Shapes of the deliverability report. */
import { Type } from "typebox";
import { described, nullable, Timestamp } from "#platform/shapes.ts";
import { GooglePostmaster } from "#reporting/google-postmaster/report.ts";

const ofSent = Type.Number({ description: "Per message sent in the window, 0 to 1." });
const ofDelivered = Type.Number({ description: "Per message delivered in the window, 0 to 1." });
const Percent = Type.Number({ description: "0 to 100." });
const Score = Type.Integer({ description: "0 to 100; 100 when nothing was sent." });

const reputationFields = {
  sent: Type.Integer({ description: "Messages that had their first attempt in the window." }),
  delivered: Type.Integer({ description: "Messages that a server accepted." }),
  bounced: Type.Integer({ description: "Messages that bounced." }),
  complained: Type.Integer({ description: "Messages that were reported as spam." }),
  delivery_rate: ofSent,
  bounce_rate: ofSent,
  complaint_rate: ofDelivered,
  score: Score,
  blacklist_listed_count: nullable(
    Type.Integer({ description: "Blacklists that list it; null without a blacklist monitor." }),
  ),
  last_checked_at: nullable(
    described(Timestamp, "Time of the last blacklist check in UTC; null without a monitor."),
  ),
};

export const Deliverability = Type.Object(
  {
    overall_metrics: Type.Object(
      {
        total_sent_24h: Type.Integer({ description: "Messages of the last 24 hours." }),
        total_sent_7d: Type.Integer({ description: "Messages of the last 7 days." }),
        total_sent_30d: Type.Integer({ description: "Messages of the last 30 days." }),
        total_sent: Type.Integer({ description: "In the window." }),
        delivered: Type.Integer({ description: "Messages of the window that a server accepted." }),
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
      },
      { description: "Figures of all mail of the workspace." },
    ),
    ip_reputations: Type.Array(
      Type.Object({ ip: Type.String({ description: "The address." }), ...reputationFields }),
      { description: "Figures of each address that mail left from." },
    ),
    domain_reputations: Type.Array(
      Type.Object({ domain: Type.String({ description: "The domain." }), ...reputationFields }),
      { description: "Figures of each domain in From." },
    ),
    bounce_breakdown: Type.Object(
      {
        hard: Type.Integer({ description: "Bounces with the address at fault." }),
        soft: Type.Integer({ description: "Bounces that may pass." }),
        block: Type.Integer({ description: "Refusals of the sender or the content." }),
        by_category: Type.Array(
          Type.Object({
            category: Type.String({ description: "What the refusals are about." }),
            count: Type.Integer({ description: "Number of bounces." }),
            percent: Percent,
          }),
          { description: "The same bounces by category, most first." },
        ),
      },
      { description: "Bounces of the window by cause." },
    ),
    google_postmaster: described(GooglePostmaster, "Figures of Google Postmaster Tools."),
    sends_via_shared_pool: Type.Boolean({
      description:
        "True when the workspace has no active sending IP: its mail leaves from the shared addresses.",
    }),
    window_days: Type.Integer({ description: "As applied." }),
    last_updated: described(Timestamp, "Time of the figures, in UTC."),
  },
  { $id: "Deliverability" },
);
