/** Assembles the reporting wing: reports, the dashboard and Google Postmaster figures. */
import { mergeLanes } from "#delivery/lanes/lanes-by-mx-host.ts";
import { createResolver } from "#dns/network-resolver.ts";
import type { ProcessContext } from "#platform/context/process-context.ts";
import type { Endpoint } from "#platform/http/endpoint.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { outcomeReportEndpoints } from "./bounces-complaints/endpoints.ts";
import { dashboardEndpoints } from "./dashboard/endpoints.ts";
import { deliverabilityEndpoints } from "./deliverability/endpoints.ts";
import { createGoogleApi } from "./google-postmaster/api.ts";
import { readCredentials } from "./google-postmaster/credentials.ts";
import { fetchGoogleStatsDaily } from "./google-postmaster/fetch-daily.ts";
import { mailboxProviderEndpoints } from "./mailbox-providers/endpoints.ts";
import { lookUpMailboxProviders } from "./mailbox-providers/look-up-providers.ts";
import { channelReportEndpoints } from "./message-origins/endpoints.ts";
import { queueEndpoints } from "./queue/endpoints.ts";
import { sendingReportEndpoints } from "./sending/endpoints.ts";

type ReportingHooks = Pick<Parameters<typeof deliverabilityEndpoints>[0], "findListings" | "hasSendingIp">;

export function reportingEndpoints(context: ProcessContext, hooks: ReportingHooks): Endpoint[] {
  const { database: db, reports = db, clock, config } = context;
  const hasGooglePostmaster = config.GOOGLE_POSTMASTER_CREDENTIALS !== null;
  const lanes = mergeLanes(config.LANES_FILE);
  return [
    ...outcomeReportEndpoints({ db: reports, clock }),
    // The dashboard shows the steps that a person has just done, and the queue what waits now.
    ...dashboardEndpoints({ db, clock }),
    ...sendingReportEndpoints({ db: reports, clock }),
    ...channelReportEndpoints({ db: reports }),
    ...queueEndpoints({ db, clock, lanes }),
    ...mailboxProviderEndpoints({ db: reports, clock }),
    ...deliverabilityEndpoints({ db: reports, clock, lanes, ...hooks, hasGooglePostmaster }),
  ];
}

/** For the look-up of a provider in the background. */
const PROVIDER_DNS = { timeoutMs: 3_000, tries: 2 };

/** Looks up mailbox providers, unless no mail leaves the machine, and asks Google Postmaster daily if there are credentials. */
export function reportingRecurring({ database: db, clock, config }: ProcessContext): Recurring[] {
  const { GOOGLE_POSTMASTER_CREDENTIALS: file, DNS_SERVERS: servers } = config;
  const tasks: Recurring[] = [];
  if (config.MAIL_MODE !== "capture") {
    const resolver = createResolver({ servers, ...PROVIDER_DNS });
    tasks.push(lookUpMailboxProviders({ db, clock, resolver, lanes: mergeLanes(config.LANES_FILE) }));
  }
  if (file !== null) {
    tasks.push(fetchGoogleStatsDaily({ db, clock, google: createGoogleApi(readCredentials(file)) }));
  }
  return tasks;
}
