/** Assembles what the API and the jobs use of the inbound wing. Its SMTP ports are opened by open-smtp-ports.ts. */
import { createResolver } from "#dns/network-resolver.ts";
import type { ProcessContext } from "#platform/context/process-context.ts";
import type { Endpoint } from "#platform/http/endpoint.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import type { GaugeSource } from "#platform/metrics.ts";
import { receivedEmailEndpoints } from "./received/endpoints.ts";
import { countWaitingReceived, waitOfOldestReceived } from "./received/process-store.ts";
import { attachmentReader } from "./received/read-attachment-in-thread.ts";
import { dmarcReportEndpoints } from "./reports/dmarc-report/endpoints.ts";
import { domainReportEndpoints } from "./reports/endpoints.ts";
import { removeOldInboundMail } from "./retention.ts";
import { countInboundMails, countWaitingMails, waitOfOldestMail } from "./returns/store.ts";
import { inboundRouteEndpoints } from "./routes/endpoints.ts";
import { lookUpSourceHosts } from "./sources/look-up-hosts.ts";
import { submissionEndpoints } from "./submission/endpoints.ts";

export function inboundEndpoints({ database: db, clock, config }: ProcessContext): Endpoint[] {
  return [
    ...domainReportEndpoints({ db, clock }),
    ...inboundRouteEndpoints({ db, clock, bounceDomain: config.BOUNCE_DOMAIN }),
    ...receivedEmailEndpoints({
      db,
      readAttachment: attachmentReader(),
      keptDays: config.RECEIVED_MAIL_DAYS,
    }),
    ...dmarcReportEndpoints({ db }),
    ...submissionEndpoints({ config }),
  ];
}

/** For the look-up of a host in the background. */
const HOST_DNS = { timeoutMs: 3_000, tries: 2 };

export function inboundRecurring({ database: db, clock, config }: ProcessContext): Recurring[] {
  const resolver = createResolver({ servers: config.DNS_SERVERS, ...HOST_DNS });
  return [
    removeOldInboundMail({ db, clock, receivedDays: config.RECEIVED_MAIL_DAYS }),
    lookUpSourceHosts({ db, clock, resolver }),
  ];
}

export function inboundGauges({ database, requests, clock }: ProcessContext): GaugeSource[] {
  return [
    {
      name: "posthaste_inbound_mails",
      help: "Returned mails that are stored, by processing status.",
      label: "status",
      read: () => countInboundMails(database),
    },
    {
      name: "posthaste_inbound_waiting_mails",
      help: "Mails that wait to be processed: to signed addresses, to open addresses, and received by inbound routes.",
      label: "class",
      read: async () => ({
        ...(await countWaitingMails(requests)),
        received: await countWaitingReceived(requests),
      }),
    },
    {
      name: "posthaste_inbound_oldest_waiting_seconds",
      help: "Age of the oldest mail that waits to be processed; 0 when none waits.",
      label: "class",
      read: async () => ({
        ...(await waitOfOldestMail(requests, clock.now())),
        received: await waitOfOldestReceived(requests, clock.now()),
      }),
    },
  ];
}
