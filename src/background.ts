/** The role `jobs`: handlers of background jobs, and everything that recurs without an outside cron. */

import { EXPORT_JOB, exportHandler } from "./audience/exports/export-job.ts";
import { IMPORT_JOB, importHandler } from "./audience/imports/import-job.ts";
import { renewCounts } from "./audience/segments/counts.ts";
import { expireHardBounces } from "./audience/suppression-lists/expire.ts";
import { removeOldCaptured } from "./delivery/capture-store.ts";
import { recheckDomains, type VerificationLoss } from "./identity/sending-domains/recheck.ts";
import { recheckTrackingDomains, type TrackingDomainLoss } from "./identity/tracking-domains/recheck.ts";
import { createZoneResolver } from "./identity/zone-resolver.ts";
import { ensurePartitions } from "./messages/partitions.ts";
import { cleanUp } from "./platform/jobs/clean-up.ts";
import { type JobRunner, startRunner } from "./platform/jobs/runner.ts";
import type { Recurring } from "./platform/jobs/schedule.ts";
import { advanceAutoresponders } from "./sending/autoresponders/advance.ts";
import { removeAutoresponderTraces } from "./sending/autoresponders/remove-traces.ts";
import { advanceCampaigns } from "./sending/campaigns/advance.ts";
import { refreshScores } from "./sending/campaigns/refresh-scores.ts";
import { removeTraces } from "./sending/campaigns/remove-traces.ts";
import type { Services } from "./services.ts";
import { keepBooks } from "./workspace/billing/keep-books.ts";
import { plans } from "./workspace/billing/plans.ts";

const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 24 * HOUR_SECONDS;
/** How often it is looked whether a domain's daily check is due. */
const RECHECK_SECONDS = 600;
/** How often it is looked whether the count of an active segment has grown old. */
const COUNT_SECONDS = 300;
/** The local inbox of capture mode keeps the newest. */
const CAPTURED_KEPT = 10_000;

export function startJobs(services: Services): Promise<JobRunner> {
  const { database, config, log } = services;
  return startRunner({
    database,
    dataDir: config.DATA_DIR,
    log,
    handlers: {
      [IMPORT_JOB]: importHandler({ db: database, clock: services.clock }),
      [EXPORT_JOB]: exportHandler({ db: database, clock: services.clock }),
    },
    recurring: [...cleanUp(database, config.DATA_DIR), ...recurringWork(services)],
  });
}

function recurringWork({ database, config, clock, log }: Services): Recurring[] {
  const resolverFor = createZoneResolver(config.DNS_SERVERS);
  const onLoss = async (_tx: unknown, loss: VerificationLoss) => {
    log.warn({ ...loss }, "a sending domain lost its verification: its DNS records stayed away");
  };
  return [
    advanceCampaigns({ db: database, clock, plans, smsCountry: config.SMS_DEFAULT_COUNTRY }),
    advanceAutoresponders({ db: database, clock, plans }),
    removeAutoresponderTraces({ db: database, clock }),
    ...keepBooks({ db: database, clock, plans }),
    {
      name: "make-message-partitions",
      seconds: DAY_SECONDS,
      run: () => ensurePartitions(database, clock.now()),
    },
    {
      name: "recheck-sending-domains",
      seconds: RECHECK_SECONDS,
      async run({ signal }) {
        await recheckDomains({ db: database, clock, config, resolverFor, onLoss }, signal);
      },
    },
    {
      name: "recheck-tracking-domains",
      seconds: RECHECK_SECONDS,
      async run({ signal }) {
        const onLoss = (loss: TrackingDomainLoss) =>
          log.warn({ ...loss }, "a tracking domain lost its verification: links use PUBLIC_URL instead");
        const target = config.TRACKING_HOST;
        await recheckTrackingDomains({ db: database, clock, target, resolverFor, onLoss }, signal);
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
