/** The counters of /metrics, and how other processes of the machine report theirs. */
import type { CounterSource } from "#platform/metrics.ts";

export const metricCounters = {
  posthaste_message_outcomes_total: {
    help: "Outcomes of messages in the delivery processes, by status: deferred counts each attempt.",
    labels: ["status"],
  },
  posthaste_provider_attempts_total: {
    help: "Delivery attempts over SMTP by mailbox provider (lane) and result.",
    labels: ["provider", "result"],
  },
  posthaste_bounces_total: {
    help: "Bounces by type: hard, soft or block; those that come later by mail included.",
    labels: ["type"],
  },
  posthaste_complaints_total: { help: "Complaints (feedback reports) about messages.", labels: [] },
  posthaste_webhook_attempts_total: {
    help: "Attempts to deliver an event to a webhook, by result: delivered, retried or given_up.",
    labels: ["result"],
  },
  posthaste_jobs_ended_total: {
    help: "Background jobs that ended, by type and status.",
    labels: ["type", "status"],
  },
  posthaste_recurring_task_failures_total: { help: "Runs of recurring tasks that failed.", labels: ["task"] },
  posthaste_password_hashes_total: {
    help: "Hashes of passwords computed, by algorithm: each takes 19 MiB and some 50 ms.",
    labels: ["algorithm"],
  },
} as const satisfies Record<string, Omit<CounterSource, "name">>;

export type CounterName = keyof typeof metricCounters;

/** An increment of a counter; it can be sent to another process. */
export type CountIncrement = {
  [Name in CounterName]: {
    readonly name: Name;
    readonly labels: Readonly<Record<(typeof metricCounters)[Name]["labels"][number], string>>;
    /** 1 by default. */
    readonly amount?: number;
  };
}[CounterName];

export type Count = (counted: CountIncrement) => void;

/** Sums increments until they are reported. */
export class CounterTally {
  #sums = new Map<string, CountIncrement>();

  readonly add: Count = (counted) => {
    const key = `${counted.name} ${Object.values(counted.labels).join(" ")}`;
    const amount = (this.#sums.get(key)?.amount ?? 0) + (counted.amount ?? 1);
    this.#sums.set(key, { ...counted, amount });
  };

  /** The sums since the last call. */
  take(): CountIncrement[] {
    const taken = [...this.#sums.values()];
    this.#sums = new Map();
    return taken;
  }
}
