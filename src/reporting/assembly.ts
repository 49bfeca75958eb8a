/** Assembles the reporting wing: reports, the dashboard and Google Postmaster figures. */
import { mergeLanes } from "#delivery/lanes/lanes-by-mx-host.ts";
import type { ProcessContext } from "#platform/context/process-context.ts";
import type { Endpoint } from "#platform/http/endpoint.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { outcomeReportEndpoints } from "./bounces-complaints/endpoints.ts";
import { dashboardEndpoints } from "./dashboard/endpoints.ts";
import { deliverabilityEndpoints } from "./deliverability/endpoints.ts";
import { createGoogleApi } from "./google-postmaster/api.ts";
import { readCredentials } from "./google-postmaster/credentials.ts";
import { fetchGoogleStatsDaily } from "./google-postmaster/fetch-daily.ts";
import { channelReportEndpoints } from "./message-origins/endpoints.ts";
import { queueEndpoints } from "./queue/endpoints.ts";
import { sendingReportEndpoints } from "./sending/endpoints.ts";

type ReportingHooks = Pick<Parameters<typeof deliverabilityEndpoints>[0], "findListings" | "hasSendingIp">;

export function reportingEndpoints(context: ProcessContext, hooks: ReportingHooks): Endpoint[] {
  const { database: db, clock, config } = context;
  const hasGooglePostmaster = config.GOOGLE_POSTMASTER_CREDENTIALS !== null;
  return [
    ...outcomeReportEndpoints({ db, clock }),
    ...dashboardEndpoints({ db, clock }),
    ...sendingReportEndpoints({ db, clock }),
    ...channelReportEndpoints({ db }),
    ...queueEndpoints({ db, clock, lanes: mergeLanes(config.LANES_FILE) }),
    ...deliverabilityEndpoints({ db, clock, ...hooks, hasGooglePostmaster }),
  ];
}

/** Asks Google Postmaster daily. Empty without credentials. */
export function reportingRecurring({ database: db, clock, config }: ProcessContext): Recurring[] {
  const { GOOGLE_POSTMASTER_CREDENTIALS: file } = config;
  return file === null
    ? []
    : [fetchGoogleStatsDaily({ db, clock, google: createGoogleApi(readCredentials(file)) })];
}
