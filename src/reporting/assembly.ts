/** Assembles the reporting wing: reports, the dashboard and Google Postmaster figures. */
import type { ProcessContext } from "#platform/context/process-context.ts";
import type { Endpoint } from "#platform/http/endpoint.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { bounceEndpoints } from "./bounces/endpoints.ts";
import { bouncesComplaintsEndpoints } from "./bounces-complaints/endpoints.ts";
import { channelReportEndpoints } from "./channels/endpoints.ts";
import { complaintEndpoints } from "./complaints/endpoints.ts";
import { dashboardEndpoints } from "./dashboard/endpoints.ts";
import { deliverabilityEndpoints } from "./deliverability/endpoints.ts";
import { askGoogleDaily } from "./postmaster/ask-daily.ts";
import { readCredentials } from "./postmaster/credentials.ts";
import { createGoogle } from "./postmaster/google.ts";
import { sendingReportEndpoints } from "./sending/endpoints.ts";

type ReportingHooks = Pick<Parameters<typeof deliverabilityEndpoints>[0], "findListings" | "hasSendingIp">;

export function reportingEndpoints(context: ProcessContext, hooks: ReportingHooks): Endpoint[] {
  const { database: db, clock, config } = context;
  const hasGooglePostmaster = config.GOOGLE_POSTMASTER_CREDENTIALS !== null;
  return [
    ...bounceEndpoints({ db }),
    ...complaintEndpoints({ db }),
    ...bouncesComplaintsEndpoints({ db, clock }),
    ...dashboardEndpoints({ db, clock }),
    ...sendingReportEndpoints({ db, clock }),
    ...channelReportEndpoints({ db }),
    ...deliverabilityEndpoints({ db, clock, ...hooks, hasGooglePostmaster }),
  ];
}

/** Asks Google Postmaster daily. Empty without credentials. */
export function reportingRecurring({ database: db, clock, config }: ProcessContext): Recurring[] {
  const { GOOGLE_POSTMASTER_CREDENTIALS: file } = config;
  return file === null ? [] : [askGoogleDaily({ db, clock, google: createGoogle(readCredentials(file)) })];
}
