/** The role jobs: handlers of background jobs, recurring work, and the delivery of webhooks. */
import { audienceHandlers, uninterruptedJobs } from "#audience/assembly.ts";
import { hygieneHandlers } from "#hygiene/assembly.ts";
import { proberFor } from "#hygiene/probe/prober.ts";
import { overviewHandlers } from "#overview/assembly.ts";
import type { ProcessContext } from "#platform/context/process-context.ts";
import { type JobRunner, startRunner } from "#platform/jobs/runner.ts";
import { sendingHandlers, uninterruptedExports } from "#sending/assembly.ts";
import { startWebhooks } from "#webhooks/assembly.ts";
import { announceSubscribers, createJobReaction } from "#webhooks/events/announce-non-message-events.ts";
import { LimitNotices } from "#workspace/billing/log-reached-limits.ts";
import { readPlans } from "#workspace/billing/plans-file.ts";
import type { Count } from "./counters.ts";
import { createReactions } from "./reactions.ts";
import { createRecurringTasks } from "./recurring-tasks.ts";

export async function startJobs(context: ProcessContext, count: Count): Promise<JobRunner> {
  const { database, config, clock, log } = context;
  const prober = proberFor(config);
  const { note: onLimit } = new LimitNotices(log, () => clock.monotonicMs());
  const parts = { ...context, plans: readPlans(config.PLANS_FILE), prober, onLimit };
  const announceEnded = createJobReaction(clock);
  const runner = await startRunner({
    database,
    dataDir: config.DATA_DIR,
    log,
    handlers: {
      ...audienceHandlers(parts, announceSubscribers),
      ...sendingHandlers(parts),
      ...hygieneHandlers(parts),
      ...overviewHandlers(parts, createReactions(clock, count)),
    },
    uninterrupted: [...uninterruptedJobs, ...uninterruptedExports],
    recurring: createRecurringTasks(parts),
    async onEnded(tx, job) {
      await announceEnded(tx, job);
      const { type, status } = job;
      count({ name: "posthaste_jobs_ended_total", labels: { type, status } });
    },
    onTaskFailed: (task) => count({ name: "posthaste_recurring_task_failures_total", labels: { task } }),
  });
  const webhooks = startWebhooks(context, (result) =>
    count({ name: "posthaste_webhook_attempts_total", labels: { result } }),
  );
  return {
    async stop() {
      // The runner stops its jobs first; the prober then closes their SMTP sessions.
      await Promise.all([runner.stop(), prober?.close(), webhooks.stop()]);
    },
  };
}
