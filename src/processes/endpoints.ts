import { customFieldEndpoints } from "#audience/custom-fields/endpoints.ts";
import { exportEndpoints } from "#audience/exports/endpoints.ts";
import { EXPORT_JOB } from "#audience/exports/export-job.ts";
import { importEndpoints } from "#audience/imports/endpoints.ts";
import { IMPORT_JOB } from "#audience/imports/import-job.ts";
import { usedByImports } from "#audience/imports/uses-store.ts";
import { type ListCampaigns, mailingListEndpoints } from "#audience/mailing-lists/endpoints.ts";
import { segmentEndpoints } from "#audience/segments/endpoints.ts";
import type { KeepSegmentName, SegmentUse } from "#audience/segments/save-segment.ts";
import { signupFormEndpoints } from "#audience/signup-forms/endpoints.ts";
import { subscriberEndpoints } from "#audience/subscribers/endpoints.ts";
import { subscribers } from "#audience/subscribers/resource.ts";
import type { HistoryOf } from "#audience/subscribers/subscriber-detail.ts";
import { suppressionListEndpoints } from "#audience/suppression-lists/endpoints.ts";
import { listSuppressionsOf } from "#audience/suppression-lists/entry-store.ts";
import { isSegmentUsedBySuppression } from "#audience/suppression-lists/store.ts";
import { mergeLanes } from "#delivery/lanes/lanes.ts";
import { notifyWorkers } from "#delivery/queue/channel.ts";
import { warmUpStates } from "#delivery/warm-up/state.ts";
import { checkerFor } from "#hygiene/blacklist/checker.ts";
import { blacklistEndpoints } from "#hygiene/blacklist/endpoints.ts";
import { listedCountOf } from "#hygiene/blacklist/monitor-store.ts";
import type { Prober } from "#hygiene/probe/prober.ts";
import { BULK_JOB } from "#hygiene/validations/bulk/bulk-job.ts";
import { validationEndpoints } from "#hygiene/validations/endpoints.ts";
import { openAddressChecker } from "#hygiene/validations/open-address-checker.ts";
import { validations } from "#hygiene/validations/validation.ts";
import { dkimEndpoints } from "#identity/dkims/endpoints.ts";
import { createZoneResolver } from "#identity/dns-checks/zone-resolver.ts";
import { routingRuleEndpoints } from "#identity/routing-rules/endpoints.ts";
import { findRuleOfLastInPool, findRuleOfSendingIp } from "#identity/routing-rules/store.ts";
import { sendingDomainEndpoints } from "#identity/sending-domains/endpoints.ts";
import { type SendingIpDeps, sendingIpEndpoints } from "#identity/sending-ips/endpoints.ts";
import { listSendingIps } from "#identity/sending-ips/store.ts";
import { createCertificateCheck } from "#identity/tracking-domains/certificate.ts";
import { trackingDomainEndpoints } from "#identity/tracking-domains/endpoints.ts";
import { holdTrackingDomain } from "#identity/tracking-domains/store.ts";
import { verifiedSenderEndpoints } from "#identity/verified-senders/endpoints.ts";
import { domainReportEndpoints } from "#inbound/reports/endpoints.ts";
import { removeReports } from "#inbound/retention.ts";
import { messageEndpoints } from "#messages/endpoints.ts";
import { insertOriginName } from "#messages/origin-names-store.ts";
import type { Endpoint } from "#platform/http/endpoint.ts";
import { jobEndpoints } from "#platform/jobs/endpoints.ts";
import { bounceEndpoints } from "#reporting/bounces/endpoints.ts";
import { bouncesComplaintsEndpoints } from "#reporting/bounces-complaints/endpoints.ts";
import { channelReportEndpoints } from "#reporting/channels/endpoints.ts";
import { complaintEndpoints } from "#reporting/complaints/endpoints.ts";
import { dashboardEndpoints } from "#reporting/dashboard/endpoints.ts";
import { deliverabilityEndpoints } from "#reporting/deliverability/endpoints.ts";
import { sendingReportEndpoints } from "#reporting/sending/endpoints.ts";
import type { Acceptor } from "#sending/acceptance/acceptor.ts";
import { requireOneMore } from "#sending/acceptance/allowance.ts";
import { autoresponderEndpoints } from "#sending/autoresponders/endpoints.ts";
import { campaignAnalyticsEndpoints } from "#sending/campaigns/analytics/endpoints.ts";
import { mailHistoryOf } from "#sending/campaigns/analytics/person-history.ts";
import { campaignEndpoints } from "#sending/campaigns/endpoints.ts";
import { listLastCampaigns } from "#sending/campaigns/store.ts";
import {
  campaignWithList,
  campaignWithRoute,
  campaignWithSegment,
  campaignWithSender,
  campaignWithTrackingDomain,
  updateListName,
  updateSegmentNames,
} from "#sending/campaigns/uses-store.ts";
import { emailEndpoints } from "#sending/emails/endpoints.ts";
import { createPlatformMail } from "#sending/platform-mail/platform-mail.ts";
import { fieldUses, findAutoresponderOfList } from "#sending/uses-store.ts";
import { webhookEndpoints } from "#webhooks/endpoints.ts";
import {
  announceCampaigns,
  announceSubscriber,
  announceVerification,
  createJobReaction,
} from "#webhooks/events/events.ts";
import { apiKeyEndpoints } from "#workspace/api-keys/endpoints.ts";
import { billingEndpoints } from "#workspace/billing/endpoints.ts";
import type { OnLimit } from "#workspace/billing/limit-notices.ts";
import { topUpEndpoints } from "#workspace/billing/payments/endpoints.ts";
import type { PaymentGateway } from "#workspace/billing/payments/gateway.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import type { Services } from "./context.ts";

/** Whoever checks the same target again and again is not a burden to the zones. */
const BLACKLIST_ANSWER_MS = 5 * 60_000;

/** What endpoints share with the rest of the API's process. */
export interface EndpointParts extends Services {
  readonly plans: Plans;
  readonly acceptor: Acceptor;
  readonly prober: Prober | null;
  readonly paymentGateway: PaymentGateway | null;
  readonly hasSmsGateway: boolean;
  /** Hosts of the service itself, which nobody may take for tracking. */
  readonly ownHosts: readonly string[];
  readonly publicUrl: () => string;
  /** Lets the authenticator look keys up anew. */
  readonly forgetKeys: () => void;
  readonly onLimit: OnLimit;
}

export function createEndpoints(parts: EndpointParts): readonly Endpoint[] {
  const { config, log, clock, database, secrets, plans, acceptor, prober, ownHosts, publicUrl } = parts;
  const resolverFor = createZoneResolver(config.DNS_SERVERS);
  const providers = mergeLanes(config.LANES_FILE).map(({ name }) => name);
  const endpoints: Endpoint[] = [
    ...apiKeyEndpoints({
      db: database,
      clock,
      endpoints: () => endpoints,
      forgetKeys: parts.forgetKeys,
      onRemoved: (tx, workspaceId, key) => insertOriginName(tx, workspaceId, "api", key),
    }),
    ...billingEndpoints({ db: database, clock, plans }),
    ...topUpEndpoints({ db: database, clock, log, gateway: parts.paymentGateway, publicUrl }),
    ...mailingListEndpoints({ db: database, clock, campaigns: listCampaigns }),
    ...signupFormEndpoints({ db: database, clock, secrets, publicUrl }),
    ...subscriberEndpoints({ db: database, clock, plans, historyOf, onSubscriber: announceSubscriber }),
    ...importEndpoints({ db: database, clock, plans }),
    ...exportEndpoints({ db: database, clock, plans }),
    ...customFieldEndpoints({ db: database, clock, uses: [usedByImports, ...fieldUses] }),
    ...segmentEndpoints({
      db: database,
      clock,
      uses: [usedBySuppression, campaignWithSegment],
      keepName: keepSegmentName,
    }),
    ...suppressionListEndpoints({ db: database, clock, plans }),
    ...sendingDomainEndpoints({
      db: database,
      clock,
      secrets,
      config,
      resolverFor,
      onVerification: announceVerification,
      userOf: (tx, workspaceId, domain) => campaignWithSender(tx, workspaceId, { domain }),
      removeReports: (workspaceId, domainId) => removeReports(database, workspaceId, domainId),
    }),
    ...domainReportEndpoints({ db: database, clock }),
    ...verifiedSenderEndpoints({
      db: database,
      clock,
      secrets,
      publicUrl,
      sendPlatformMail: createPlatformMail(config.PLATFORM_SENDER, clock),
      userOf: (tx, workspaceId, email) => campaignWithSender(tx, workspaceId, { email }),
    }),
    ...dkimEndpoints({ db: database, clock, secrets, resolverFor, onVerification: announceVerification }),
    ...trackingDomainEndpoints({
      db: database,
      clock,
      resolverFor,
      findCertificateFault: createCertificateCheck({ servers: config.DNS_SERVERS }),
      target: config.TRACKING_HOST,
      ownHosts,
      userOf: campaignWithTrackingDomain,
    }),
    ...sendingIpEndpoints({
      db: database,
      clock,
      mailHostname: config.MAIL_HOSTNAME,
      allowLoopback: config.ALLOW_PRIVATE_MX,
      claimable: config.SENDING_IPS,
      warmUpsOf: (db, workspaceId, ips, now) => warmUpStates(db, workspaceId, ips, providers, now),
      userOf: userOfSendingIp,
      async userOfPool(db, workspaceId, { id }) {
        const rule = await findRuleOfLastInPool(db, workspaceId, id);
        return rule && `The routing rule "${rule.name}"`;
      },
    }),
    ...routingRuleEndpoints({
      db: database,
      clock,
      secrets,
      providers,
      allowPrivate: config.ALLOW_PRIVATE_MX,
      userOf: (db, workspaceId, ruleId) => campaignWithRoute(db, workspaceId, { ruleId }),
    }),
    ...campaignEndpoints({
      db: database,
      clock,
      plans,
      acceptor,
      publicUrl,
      notifyWorkers,
      onCampaigns: announceCampaigns,
      hasSmsGateway: parts.hasSmsGateway,
      smsCountry: config.SMS_DEFAULT_COUNTRY,
      hasTrackingDomain: holdTrackingDomain,
      requireAllowance: (workspaceId) =>
        requireOneMore(database, plans, workspaceId, clock.now(), parts.onLimit),
    }),
    ...campaignAnalyticsEndpoints({ db: database }),
    ...autoresponderEndpoints({ db: database, clock, plans, notifyWorkers }),
    ...emailEndpoints({
      acceptor,
      clock,
      platformFrom: config.DEFAULT_SENDER,
    }),
    ...blacklistEndpoints({
      db: database,
      clock,
      plans,
      checker: checkerFor(config, clock, BLACKLIST_ANSWER_MS),
    }),
    ...validationEndpoints({
      db: database,
      clock,
      plans,
      checker: openAddressChecker(parts, prober),
    }),
    ...messageEndpoints({ db: database }),
    ...bounceEndpoints({ db: database }),
    ...complaintEndpoints({ db: database }),
    ...bouncesComplaintsEndpoints({ db: database, clock }),
    ...dashboardEndpoints({ db: database, clock }),
    ...sendingReportEndpoints({ db: database, clock }),
    ...channelReportEndpoints({ db: database }),
    ...deliverabilityEndpoints({
      db: database,
      clock,
      findListings: listedCountOf,
      hasSendingIp: async (db, workspaceId) =>
        (await listSendingIps(db, workspaceId)).some(({ is_active }) => is_active),
      hasGooglePostmaster: config.GOOGLE_POSTMASTER_CREDENTIALS !== null,
    }),
    ...jobEndpoints({
      db: database,
      types: { [IMPORT_JOB]: subscribers, [EXPORT_JOB]: subscribers, [BULK_JOB]: validations },
      onEnded: createJobReaction(clock),
    }),
    ...webhookEndpoints({ db: database, clock, secrets, allowPrivate: config.ALLOW_PRIVATE_WEBHOOKS }),
  ];
  return endpoints;
}

/** What stands further up the house asks about campaigns by these. */
const usedBySuppression: SegmentUse = async (db, workspaceId, segmentId) =>
  (await isSegmentUsedBySuppression(db, workspaceId, segmentId)) ? "A suppression list" : undefined;
const keepSegmentName: KeepSegmentName = (tx, workspaceId, segmentId) =>
  updateSegmentNames(tx, workspaceId, { segmentId });
const listCampaigns: ListCampaigns = {
  latest: listLastCampaigns,
  async keepName(tx, workspaceId, mailingListId) {
    await updateListName(tx, workspaceId, mailingListId);
    await updateSegmentNames(tx, workspaceId, { mailingListId });
  },
  async userOf(db, workspaceId, id) {
    const campaign = await campaignWithList(db, workspaceId, id);
    if (campaign !== undefined) return `${campaign} uses this list: cancel it first`;
    const autoresponder = await findAutoresponderOfList(db, workspaceId, id);
    return autoresponder && `The autoresponder "${autoresponder}" writes to this list: deactivate it first`;
  },
};
const historyOf: HistoryOf = async (db, workspaceId, { id, email }) => ({
  ...(await mailHistoryOf(db, workspaceId, id)),
  suppressions: await listSuppressionsOf(db, workspaceId, email),
});

const userOfSendingIp: SendingIpDeps["userOf"] = async (db, workspaceId, { id, ip }) => {
  const campaign = await campaignWithRoute(db, workspaceId, { ip });
  if (campaign !== undefined) return campaign;
  const rule = await findRuleOfSendingIp(db, workspaceId, id);
  return rule && `The routing rule "${rule.name}"`;
};
