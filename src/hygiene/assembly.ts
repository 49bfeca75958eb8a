/** Assembles the hygiene wing: address validation and blacklist checks. */
import type { ProcessContext } from "#platform/context/process-context.ts";
import type { Endpoint } from "#platform/http/endpoint.ts";
import type { JobHandlers } from "#platform/jobs/runner.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import { checkerFor } from "./blacklist/checker.ts";
import { blacklistEndpoints } from "./blacklist/endpoints.ts";
import { blacklistTasks, type MonitorDeps } from "./blacklist/run-monitors.ts";
import { readZones } from "./blacklist/zones.ts";
import type { Prober } from "./probe/prober.ts";
import { BULK_JOB, bulkHandler } from "./validations/bulk/bulk-job.ts";
import { bulkValidationOutcome } from "./validations/bulk/bulk-validation-result.ts";
import { validationEndpoints } from "./validations/endpoints.ts";
import { openAddressChecker } from "./validations/open-address-checker.ts";
import { removeOldValidationsJob } from "./validations/remove-old-validations.ts";
import { validations } from "./validations/validation.ts";

/** How long the answer of a DNS blacklist is reused, so that repeated checks of one target do not reach its operator. */
const BLACKLIST_ANSWER_MS = 5 * 60_000;

export interface HygieneParts extends ProcessContext {
  readonly plans: Plans;
  /** Null if addresses are not probed by SMTP. */
  readonly prober: Prober | null;
}

export function hygieneEndpoints(parts: HygieneParts): Endpoint[] {
  const { database: db, clock, config, plans, prober } = parts;
  return [
    ...blacklistEndpoints(
      { db, clock, plans, checker: checkerFor(config, clock, BLACKLIST_ANSWER_MS) },
      readZones(config.BLACKLIST_ZONES_FILE),
    ),
    ...validationEndpoints({ db, clock, plans, checker: openAddressChecker(parts, prober) }),
  ];
}

/** The nouns that this wing's jobs belong to, by job type. */
export const hygieneJobs = { [BULK_JOB]: validations };

/** What this wing's jobs count and result in, by job type. */
export const hygieneJobOutcomes = { [BULK_JOB]: bulkValidationOutcome };

export function hygieneHandlers(parts: HygieneParts): JobHandlers {
  const { database: db, clock, plans, prober } = parts;
  return { [BULK_JOB]: bulkHandler({ db, clock, plans, checker: openAddressChecker(parts, prober) }) };
}

type HygieneHooks = Pick<MonitorDeps, "sendPlatformMail" | "onListingChanged">;

export function hygieneRecurring(parts: HygieneParts, hooks: HygieneHooks): Recurring[] {
  const { database: db, clock, config, plans } = parts;
  // A scheduled check wants the present state: no answer is reused.
  const checker = checkerFor(config, clock, 0);
  return [removeOldValidationsJob({ db, clock }), ...blacklistTasks({ db, clock, plans, checker, ...hooks })];
}
