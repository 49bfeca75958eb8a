/** Assembles the audience wing: lists, subscribers, fields, segments, imports, exports, forms and suppression. */
import type { FastifyInstance } from "fastify";
import type { ProcessContext } from "#platform/context/process-context.ts";
import type { Endpoint } from "#platform/http/endpoint.ts";
import { removeInBatches } from "#platform/jobs/remove-in-batches.ts";
import type { JobHandlers } from "#platform/jobs/runner.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { DAY_MS, DAY_SECONDS, HOUR_SECONDS } from "#platform/time-units.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import { BULK_ACTION_JOB, bulkActionHandler } from "./bulk-actions/bulk-action-job.ts";
import { bulkActionOutcome } from "./bulk-actions/bulk-action-result.ts";
import { bulkActionEndpoints } from "./bulk-actions/endpoints.ts";
import { customFieldEndpoints } from "./custom-fields/endpoints.ts";
import { exportEndpoints } from "./exports/endpoints.ts";
import { EXPORT_JOB, exportHandler } from "./exports/export-job.ts";
import { exportOutcome } from "./exports/export-result.ts";
import { usedByImports } from "./imports/blocking-imports-store.ts";
import { withoutQuotedValues } from "./imports/dry-run-report.ts";
import { importEndpoints } from "./imports/endpoints.ts";
import { IMPORT_JOB, importHandler } from "./imports/import-job.ts";
import { importOutcome } from "./imports/import-result.ts";
import { usedByWorkspace } from "./languages/used-by-workspace.ts";
import { mailingListEndpoints } from "./mailing-lists/endpoints.ts";
import type { ListCampaigns } from "./mailing-lists/stats-from-daily-counters.ts";
import { segmentEndpoints } from "./segments/endpoints.ts";
import { recountActiveSegments } from "./segments/member-counts.ts";
import type { FieldUse } from "./segments/refuse-used-field-changes.ts";
import type { KeepSegmentName, SegmentUse } from "./segments/save-segment.ts";
import { oldestOpen } from "./signup-forms/confirm-signup.ts";
import { signupFormEndpoints } from "./signup-forms/endpoints.ts";
import { removeOldRefusedSignups } from "./signup-forms/refused-signups-store.ts";
import { registerSignupPages, type SignupPageDeps } from "./signup-forms/serve-pages.ts";
import { removeLapsedRequests, removeUnusedWordings } from "./signup-forms/store.ts";
import { subscriberEndpoints } from "./subscribers/endpoints.ts";
import { subscribers } from "./subscribers/permission.ts";
import type { HistoryOf } from "./subscribers/subscriber-detail.ts";
import type { OnSubscriberEvent, OnSubscriberEvents } from "./subscribers/subscriber-events.ts";
import { suppressionListEndpoints } from "./suppression-lists/endpoints.ts";
import type { CausesOf } from "./suppression-lists/explain-suppressions.ts";
import { suppressionLists } from "./suppression-lists/permission.ts";
import { expireHardBounces } from "./suppression-lists/remove-in-steps.ts";
import { listSuppressionOfSegments } from "./suppression-lists/store.ts";

/** How often the counts of active segments are checked for their age. */
const COUNT_SECONDS = 300;
/** A wording of a consent that no request refers to any more. */
const WORDING_KEPT_MS = 7 * DAY_MS;

export interface AudienceParts extends ProcessContext {
  readonly plans: Plans;
  readonly publicUrl: () => string;
}

/** Functions of other wings: they find the users of lists, segments and fields, and react to changes. */
export interface AudienceHooks {
  readonly campaigns: ListCampaigns;
  readonly segmentUses: readonly SegmentUse[];
  readonly keepSegmentName: KeepSegmentName;
  readonly fieldUses: readonly FieldUse[];
  readonly historyOf: HistoryOf;
  readonly onSubscriber: OnSubscriberEvent;
  readonly causesOf: CausesOf;
}

export function audienceEndpoints(parts: AudienceParts, hooks: AudienceHooks): Endpoint[] {
  const { database: db, clock, secrets, plans, publicUrl } = parts;
  const { campaigns, segmentUses, keepSegmentName, fieldUses, historyOf, onSubscriber, causesOf } = hooks;
  return [
    ...mailingListEndpoints({ db, clock, campaigns }),
    ...signupFormEndpoints({ db, clock, secrets, publicUrl }),
    ...subscriberEndpoints({ db, clock, plans, historyOf, onSubscriber }),
    ...importEndpoints({ db, clock, plans }),
    ...exportEndpoints({ db, clock, plans }),
    ...bulkActionEndpoints({ db, clock }),
    ...customFieldEndpoints({ db, clock, uses: [usedByImports, usedByWorkspace, ...fieldUses] }),
    ...segmentEndpoints({ db, clock, uses: [usedBySuppression, ...segmentUses], keepName: keepSegmentName }),
    ...suppressionListEndpoints({ db, clock, plans, causesOf }),
  ];
}

const usedBySuppression: SegmentUse = {
  kind: "suppression_list",
  noun: suppressionLists,
  called: () => "A suppression list",
  list: listSuppressionOfSegments,
};

/** The nouns that this wing's jobs belong to, by job type. */
export const audienceJobs = {
  [IMPORT_JOB]: subscribers,
  [EXPORT_JOB]: subscribers,
  [BULK_ACTION_JOB]: subscribers,
};

/** What this wing's jobs count and result in, by job type. */
export const audienceJobOutcomes = {
  [IMPORT_JOB]: importOutcome,
  [EXPORT_JOB]: exportOutcome,
  [BULK_ACTION_JOB]: bulkActionOutcome,
};

/** Results as callers see them who may see the job but not read people, by job type. */
export const audienceResultsWithoutValues = { [IMPORT_JOB]: withoutQuotedValues };

/** Types of jobs that run to their end without giving their slot to a waiting job. */
export const uninterruptedJobs: readonly string[] = [EXPORT_JOB];

export function audienceHandlers(
  { database: db, clock, plans }: Pick<AudienceParts, "database" | "clock" | "plans">,
  onSubscribers: OnSubscriberEvents,
): JobHandlers {
  return {
    [IMPORT_JOB]: importHandler({ db, clock, plans }),
    [EXPORT_JOB]: exportHandler({ db, clock }),
    [BULK_ACTION_JOB]: bulkActionHandler({ db, clock, plans, onSubscribers }),
  };
}

type SignupHooks = Pick<SignupPageDeps, "mailer" | "excuseMail" | "onSubscriber" | "onFormAbused">;

/** Registers the public pages of sign-up forms. */
export function registerAudiencePages(
  pages: FastifyInstance,
  parts: AudienceParts,
  hooks: SignupHooks,
): void {
  const { database: db, clock, plans, log, secrets, publicUrl } = parts;
  registerSignupPages(pages, { db, clock, plans, log, secrets, publicUrl, ...hooks });
}

export function audienceRecurring({ database: db, clock, config }: ProcessContext): Recurring[] {
  return [
    {
      name: "forget-sign-up-requests",
      seconds: DAY_SECONDS,
      async run({ signal }) {
        const before = oldestOpen(clock.now());
        await removeInBatches(signal, (most) => removeLapsedRequests(db, before, most));
        const unusedSince = new Date(clock.now().getTime() - WORDING_KEPT_MS);
        await removeInBatches(signal, (most) => removeUnusedWordings(db, unusedSince, most));
        await removeInBatches(signal, (most) => removeOldRefusedSignups(db, before, most));
      },
    },
    {
      name: "renew-segment-counts",
      seconds: COUNT_SECONDS,
      run: ({ signal }) => recountActiveSegments(db, clock.now(), signal),
    },
    {
      name: "expire-hard-bounces",
      seconds: HOUR_SECONDS,
      async run() {
        const { HARD_BOUNCE_DAYS: days } = config;
        if (days === null) return;
        await expireHardBounces(db, new Date(clock.now().getTime() - days * DAY_MS));
      },
    },
  ];
}
