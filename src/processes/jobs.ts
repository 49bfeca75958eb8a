/** The role jobs: handlers of background jobs, recurring work, and the delivery of webhooks. */
import { audienceHandlers, audienceRecurring, uninterruptedJobs } from "#audience/assembly.ts";
import { deliveryRecurring } from "#delivery/assembly.ts";
import { notifyWorkers } from "#delivery/queue/notify-workers.ts";
import { releaseHeld } from "#delivery/queue/queue-store.ts";
import { hygieneHandlers, hygieneRecurring } from "#hygiene/assembly.ts";
import { proberFor } from "#hygiene/probe/prober.ts";
import { identityRecurring } from "#identity/assembly.ts";
import { inboundRecurring } from "#inbound/assembly.ts";
import { messagesRecurring } from "#messages/assembly.ts";
import { overviewHandlers } from "#overview/assembly.ts";
import type { ProcessContext } from "#platform/context/process-context.ts";
import { cleanUp } from "#platform/jobs/remove-expired-data.ts";
import { type JobRunner, startRunner } from "#platform/jobs/runner.ts";
import { reportingRecurring } from "#reporting/assembly.ts";
import { sendingHandlers, sendingRecurring, uninterruptedExports } from "#sending/assembly.ts";
import { createPlatformMail } from "#sending/platform-mail/platform-mail.ts";
import { startWebhooks, webhooksRecurring } from "#webhooks/assembly.ts";
import {
  announceCampaigns,
  announceListing,
  announceSubscribers,
  announceVerification,
  createJobReaction,
} from "#webhooks/events/announce-non-message-events.ts";
import { workspaceRecurring } from "#workspace/assembly.ts";
import { LimitNotices } from "#workspace/billing/log-reached-limits.ts";
import { readPlans } from "#workspace/billing/plans-file.ts";
import { removeDroppedDays } from "#workspace/billing/storage-store.ts";
import type { Count } from "./counters.ts";
import { createReactions } from "./reactions.ts";

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
    recurring: [
      ...cleanUp(database, clock),
      ...workspaceRecurring(parts),
      ...audienceRecurring(parts),
      ...identityRecurring(parts, {
        onVerification: announceVerification,
        async releaseSome(workspaceId, after) {
          const last = await releaseHeld(database, workspaceId, after);
          if (last !== null) await notifyWorkers(database);
          return last;
        },
      }),
      ...messagesRecurring(parts, () => removeDroppedDays(database, clock.now())),
      ...deliveryRecurring(parts),
      ...sendingRecurring(parts, { onCampaignEvents: announceCampaigns }),
      ...inboundRecurring(parts),
      ...hygieneRecurring(parts, {
        sendPlatformMail: createPlatformMail(config.PLATFORM_SENDER, clock),
        onListingChanged: announceListing,
      }),
      ...reportingRecurring(parts),
      ...webhooksRecurring(parts),
    ],
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
