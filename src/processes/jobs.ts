/** The role `jobs`: handlers of background jobs, and everything that recurs without an outside cron. */

import { EXPORT_JOB, exportHandler } from "#audience/exports/export-job.ts";
import { IMPORT_JOB, importHandler } from "#audience/imports/import-job.ts";
import { renewCounts } from "#audience/segments/counts.ts";
import { removeOldRefusals } from "#audience/signup-forms/abuse-store.ts";
import { oldestOpen } from "#audience/signup-forms/confirm.ts";
import { removeLapsedRequests } from "#audience/signup-forms/store.ts";
import { expireHardBounces } from "#audience/suppression-lists/expire.ts";
import { removeOldCaptured } from "#delivery/capture/store.ts";
import { notifyWorkers } from "#delivery/queue/channel.ts";
import { releaseHeldBack } from "#delivery/queue/queue-store.ts";
import { createResolver } from "#dns/system.ts";
import { checkerFor } from "#hygiene/blacklist/checker.ts";
import { blacklistTasks } from "#hygiene/blacklist/run-monitors.ts";
import { proberFor } from "#hygiene/probe/prober.ts";
import { BULK_JOB, bulkHandler } from "#hygiene/validations/bulk/bulk-job.ts";
import { openAddressChecker } from "#hygiene/validations/open-address-checker.ts";
import { removeOldValidationsJob } from "#hygiene/validations/remove-old-validations.ts";
import { createZoneResolver } from "#identity/dns-checks/zone-resolver.ts";
import { recheckDomains, type VerificationLoss } from "#identity/domain-verification/recheck.ts";
import { releaseHeldBackMail } from "#identity/sending-ips/routing-change.ts";
import { createCertificateCheck } from "#identity/tracking-domains/certificate.ts";
import { recheckTrackingDomains, type TrackingDomainLoss } from "#identity/tracking-domains/recheck.ts";
import { removeOldInboundMail } from "#inbound/retention.ts";
import { foldCounters } from "#messages/counters/apply-deltas.ts";
import { ensurePartitions } from "#messages/partitions.ts";
import { removeOldPartitions } from "#messages/retention.ts";
import { cleanUp } from "#platform/jobs/clean-up.ts";
import { type JobRunner, startRunner } from "#platform/jobs/runner.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { askGoogleDaily, type PostmasterDeps } from "#reporting/postmaster/ask-daily.ts";
import { readCredentials } from "#reporting/postmaster/credentials.ts";
import { createGoogle } from "#reporting/postmaster/google.ts";
import { advanceAutoresponders } from "#sending/autoresponders/advance.ts";
import { removeAutoresponderTraces } from "#sending/autoresponders/remove-traces.ts";
import { forgetRemovedPeople } from "#sending/campaigns/audience/forget-removed.ts";
import { refreshScores } from "#sending/campaigns/counters/refresh-scores.ts";
import { advanceCampaigns } from "#sending/campaigns/lifecycle/advance.ts";
import { brakeLimitsOf } from "#sending/campaigns/lifecycle/auto-pause.ts";
import { removeTraces } from "#sending/campaigns/remove-traces.ts";
import { createPlatformMail } from "#sending/platform-mail/platform-mail.ts";
import {
  removeOldWebhookDeliveries,
  switchOffOverfullWebhooks,
} from "#webhooks/deliveries/recurring-jobs.ts";
import { startSender } from "#webhooks/deliveries/sender.ts";
import {
  announceCampaigns,
  announceListing,
  announceVerification,
  createJobReaction,
} from "#webhooks/events/events.ts";
import { createReceiver } from "#webhooks/receiver.ts";
import { keepBooks } from "#workspace/billing/billing-jobs.ts";
import { LimitNotices } from "#workspace/billing/limit-notices.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import { readPlans } from "#workspace/billing/plans-file.ts";
import { removeDroppedMonths } from "#workspace/billing/storage-store.ts";
import type { Services } from "./context.ts";

const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 24 * HOUR_SECONDS;
/** How often it is looked whether a domain's daily check is due. */
const RECHECK_SECONDS = 600;
/** How often it is looked whether the count of an active segment has grown old. */
const COUNT_SECONDS = 300;
/** A look-up is a part of an attempt, which has ten seconds. */
const WEBHOOK_DNS = { timeoutMs: 5_000, tries: 4 };
/** The local inbox of capture mode keeps the newest. */
const CAPTURED_KEPT = 10_000;

export async function startJobs(services: Services): Promise<JobRunner> {
  const { database, config, log } = services;
  const plans = readPlans(config.PLANS_FILE);
  const prober = proberFor(config);
  const runner = await startRunner({
    database,
    dataDir: config.DATA_DIR,
    log,
    handlers: {
      [IMPORT_JOB]: importHandler({ db: database, clock: services.clock, plans }),
      [EXPORT_JOB]: exportHandler({ db: database, clock: services.clock }),
      [BULK_JOB]: bulkHandler({
        db: database,
        clock: services.clock,
        plans,
        checker: openAddressChecker(services, prober),
      }),
    },
    uninterrupted: [EXPORT_JOB],
    recurring: [...cleanUp(database, services.clock), ...recurringWork(services, plans)],
    onEnded: createJobReaction(services.clock),
  });
  const webhooks = startSender({
    db: database,
    clock: services.clock,
    log,
    secrets: services.secrets,
    post: createReceiver({
      resolver: createResolver({ servers: config.DNS_SERVERS, ...WEBHOOK_DNS }),
      allowPrivate: config.ALLOW_PRIVATE_WEBHOOKS,
    }),
  });
  return {
    async stop() {
      // Jobs are told to stop before their conversations end.
      await Promise.all([runner.stop(), prober?.close(), webhooks.stop()]);
    },
  };
}

function recurringWork({ database, config, clock, log }: Services, plans: Plans): Recurring[] {
  const resolverFor = createZoneResolver(config.DNS_SERVERS);
  const limitNotices = new LimitNotices(log, () => clock.monotonicMs());
  const findCertificateFault = createCertificateCheck({ servers: config.DNS_SERVERS });
  const onLoss = async (_tx: unknown, loss: VerificationLoss) => {
    log.warn({ ...loss }, "a sending domain lost its verification: its DNS records stayed away");
  };
  return [
    advanceCampaigns({
      db: database,
      clock,
      plans,
      onLimit: limitNotices.note,
      smsCountry: config.SMS_DEFAULT_COUNTRY,
      brake: brakeLimitsOf(config),
      onCampaigns: announceCampaigns,
    }),
    forgetRemovedPeople(database),
    removeOldWebhookDeliveries({ db: database, clock }),
    switchOffOverfullWebhooks({ db: database, clock }),
    removeOldValidationsJob({ db: database, clock }),
    advanceAutoresponders({ db: database, clock, plans, onLimit: limitNotices.note }),
    removeAutoresponderTraces({ db: database, clock }),
    foldCounters(database),
    ...blacklistTasks({
      db: database,
      clock,
      plans,
      // A scheduled run is for news: no answer is kept for it.
      checker: checkerFor(config, clock, 0),
      sendPlatformMail: createPlatformMail(config.PLATFORM_SENDER, clock),
      onListingChanged: announceListing,
    }),
    ...keepBooks({ db: database, clock, plans }),
    ...askGoogle(config.GOOGLE_POSTMASTER_CREDENTIALS, { db: database, clock }),
    removeOldInboundMail({ db: database, clock }),
    releaseHeldBackMail({
      db: database,
      async releaseSome(workspaceId, after) {
        const last = await releaseHeldBack(database, workspaceId, after);
        if (last !== null) await notifyWorkers(database);
        return last;
      },
    }),
    {
      name: "make-message-partitions",
      seconds: DAY_SECONDS,
      run: () => ensurePartitions(database, clock.now()),
    },
    {
      name: "forget-old-messages",
      seconds: DAY_SECONDS,
      async run() {
        const { MESSAGE_CONTENT_DAYS: contents, MESSAGE_LOG_DAYS: log } = config;
        await removeOldPartitions(database, { contents, log }, clock.now());
        await removeDroppedMonths(database, clock.now());
      },
    },
    {
      name: "forget-sign-up-requests",
      seconds: DAY_SECONDS,
      async run() {
        await removeLapsedRequests(database, oldestOpen(clock.now()));
        await removeOldRefusals(database, oldestOpen(clock.now()));
      },
    },
    {
      name: "recheck-sending-domains",
      seconds: RECHECK_SECONDS,
      async run({ signal }) {
        const onVerification = announceVerification;
        await recheckDomains({ db: database, clock, config, resolverFor, onLoss, onVerification }, signal);
      },
    },
    {
      name: "recheck-tracking-domains",
      seconds: RECHECK_SECONDS,
      async run({ signal }) {
        const onLoss = (loss: TrackingDomainLoss) =>
          log.warn({ ...loss }, "a tracking domain cannot be used any more: links use PUBLIC_URL instead");
        const target = config.TRACKING_HOST;
        const looks = { resolverFor, findCertificateFault };
        await recheckTrackingDomains({ db: database, clock, target, ...looks, onLoss }, signal);
      },
    },
    {
      name: "renew-segment-counts",
      seconds: COUNT_SECONDS,
      run: ({ signal }) => renewCounts(database, clock.now(), signal),
    },
    {
      name: "refresh-engagement-scores",
      seconds: DAY_SECONDS,
      async run({ signal }) {
        await refreshScores({ db: database, clock }, signal);
      },
    },
    {
      name: "remove-traces-of-deleted-campaigns",
      seconds: DAY_SECONDS,
      run: ({ signal }) => removeTraces(database, signal),
    },
    {
      name: "expire-hard-bounces",
      seconds: HOUR_SECONDS,
      async run() {
        const { HARD_BOUNCE_DAYS: days } = config;
        if (days === null) return;
        await expireHardBounces(database, new Date(clock.now().getTime() - days * DAY_SECONDS * 1_000));
      },
    },
    {
      name: "remove-old-captured-messages",
      seconds: HOUR_SECONDS,
      async run() {
        await removeOldCaptured(database, CAPTURED_KEPT);
      },
    },
  ];
}

/** Nothing without credentials. */
function askGoogle(file: unknown, deps: Pick<PostmasterDeps, "db" | "clock">): Recurring[] {
  return file === null ? [] : [askGoogleDaily({ ...deps, google: createGoogle(readCredentials(file)) })];
}
