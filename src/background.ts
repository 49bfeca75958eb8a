/** The role `jobs`: handlers of background jobs, and everything that recurs without an outside cron. */
import { removeOldCaptured } from "./delivery/capture-store.ts";
import { recheckDomains, type VerificationLoss } from "./identity/sending-domains/recheck.ts";
import { createZoneResolver } from "./identity/zone-resolver.ts";
import { ensurePartitions } from "./messages/partitions.ts";
import { cleanUp } from "./platform/jobs/clean-up.ts";
import { type JobRunner, startRunner } from "./platform/jobs/runner.ts";
import type { Recurring } from "./platform/jobs/schedule.ts";
import type { Services } from "./services.ts";

const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 24 * HOUR_SECONDS;
/** How often it is looked whether a domain's daily check is due. */
const RECHECK_SECONDS = 600;
/** The local inbox of capture mode keeps the newest. */
const CAPTURED_KEPT = 10_000;

export function startJobs(services: Services): Promise<JobRunner> {
  const { database, config, log } = services;
  return startRunner({
    database,
    dataDir: config.DATA_DIR,
    log,
    handlers: {},
    recurring: [...cleanUp(database, config.DATA_DIR), ...recurringWork(services)],
  });
}

function recurringWork({ database, config, clock, log }: Services): Recurring[] {
  const resolverFor = createZoneResolver(config.DNS_SERVERS);
  const onLoss = async (_tx: unknown, loss: VerificationLoss) => {
    log.warn({ ...loss }, "a sending domain lost its verification: its DNS records stayed away");
  };
  return [
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
      name: "remove-old-captured-messages",
      seconds: HOUR_SECONDS,
      async run() {
        await removeOldCaptured(database, CAPTURED_KEPT);
      },
    },
  ];
}
