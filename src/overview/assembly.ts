/** Assembles the overview wing: what people see of all other wings at once. */
import type { FastifyInstance } from "fastify";
import { subscribers } from "#audience/subscribers/permission.ts";
import type { HistoryOf } from "#audience/subscribers/subscriber-detail.ts";
import { createZoneResolver } from "#identity/dns-checks/zone-resolver.ts";
import { lookUpDnsStatus } from "#identity/domain-verification/look-up-dns-status.ts";
import { findSendingDomain } from "#identity/sending-domains/store.ts";
import { listReceivingDomains } from "#inbound/routes/store.ts";
import type { OnMoved } from "#messages/message/outcome.ts";
import type { ProcessContext } from "#platform/context/process-context.ts";
import { type Endpoint, need, permissionOf, type Resource } from "#platform/http/endpoint.ts";
import type { JobHandlers } from "#platform/jobs/runner.ts";
import { limits } from "#platform/limits/limits.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import type { PasswordHasher } from "#workspace/passwords/hash-password.ts";
import { noticeEndpoints } from "./notices/endpoints.ts";
import { personEndpoints } from "./person/endpoints.ts";
import { ERASURE_JOB, erasureHandler } from "./person/erasure-job.ts";
import { erasureOutcome } from "./person/erasure-result.ts";
import { searchEndpoints } from "./search/endpoints.ts";
import { EverythingSearch } from "./search/search-everything.ts";
import { readCampaignReport } from "./share-links/campaign-report.ts";
import { dnsRecordsReport } from "./share-links/dns-records-report.ts";
import { type ShareLinkDeps, shareLinkEndpoints } from "./share-links/endpoints.ts";
import { KeptReports } from "./share-links/kept-reports.ts";
import { registerSharePages } from "./share-links/share-page.ts";
import { streamEndpoints } from "./stream/endpoints.ts";
import { LiveStreams, type ReadAccess } from "./stream/live-streams.ts";
import { topicSources } from "./stream/topic-sources.ts";
import { TopicRights } from "./stream/topics.ts";
import { viewEndpoints } from "./views/endpoints.ts";

interface OverviewHooks {
  /** The nouns that have jobs. */
  readonly jobResources: readonly Resource[];
  readonly readAccess: ReadAccess;
  readonly historyOf: HistoryOf;
  readonly hasher: PasswordHasher;
}

/** @param context `database` is that of requests */
export function overviewEndpoints(
  context: ProcessContext & { readonly plans: Plans } & Pick<ShareLinkDeps, "publicUrl">,
  { jobResources, readAccess, historyOf, hasher }: OverviewHooks,
): Endpoint[] {
  const { database: db, clock, log, plans, publicUrl } = context;
  const jobPermissions = [...new Set(jobResources.map((resource) => permissionOf(need(resource, "read"))))];
  const rights = new TopicRights(jobPermissions);
  const sources = topicSources({ db, clock, plans, jobPermissions });
  const streams = new LiveStreams({ sources, rights, readAccess, limits, log });
  return [
    ...streamEndpoints({ db, clock, rights, streams }),
    ...noticeEndpoints({ db, clock, plans, jobPermissions }),
    ...searchEndpoints({ search: new EverythingSearch(db) }),
    ...personEndpoints({ db, clock, historyOf }),
    ...viewEndpoints({ db, clock }),
    ...shareLinkEndpoints({ db, clock, hasher, publicUrl }),
  ];
}

/** Registers the pages of share links. */
export function registerOverviewPages(
  pages: FastifyInstance,
  { database: db, clock, config }: ProcessContext,
  hasher: PasswordHasher,
): void {
  const resolverFor = createZoneResolver(config.DNS_SERVERS);
  const outside = { ...config, PRIVATE_NAME: null };
  const lookUp = { db, config: outside, resolverFor, receivingDomains: listReceivingDomains };
  const reports = {
    campaign_report: new KeptReports((...campaign) => readCampaignReport(db, ...campaign)),
    dns_records: new KeptReports(async (workspaceId, domainId) => {
      const domain = await findSendingDomain(db, workspaceId, domainId);
      const status = domain && (await lookUpDnsStatus(lookUp, workspaceId, domain));
      return status && dnsRecordsReport(status, config.PRIVATE_NAME);
    }),
  };
  registerSharePages(pages, { db, clock, hasher, reports });
}

/** The nouns that this wing's jobs belong to, by job type. */
export const overviewJobs = { [ERASURE_JOB]: subscribers };

/** What this wing's jobs count and result in, by job type. */
export const overviewJobOutcomes = { [ERASURE_JOB]: erasureOutcome };

export function overviewHandlers(
  { database: db, clock }: Pick<ProcessContext, "database" | "clock">,
  onMoved: OnMoved,
): JobHandlers {
  return { [ERASURE_JOB]: erasureHandler({ db, clock, onMoved }) };
}
