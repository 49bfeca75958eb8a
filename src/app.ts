/**
 * The API: the only wiring of endpoints and pages. It closes the loops that the import order forbids, by passing
 * functions down. (Background work is wired in background.ts, the delivery process in deliver.ts.)
 */
import type { FastifyInstance } from "fastify";
import { customFieldEndpoints } from "./audience/custom-fields/endpoints.ts";
import { exportEndpoints } from "./audience/exports/endpoints.ts";
import { importEndpoints } from "./audience/imports/endpoints.ts";
import { type ListCampaigns, mailingListEndpoints } from "./audience/mailing-lists/endpoints.ts";
import { segmentEndpoints } from "./audience/segments/endpoints.ts";
import type { SegmentUse } from "./audience/segments/save-segment.ts";
import { subscriberEndpoints } from "./audience/subscribers/endpoints.ts";
import type { HistoryOf } from "./audience/subscribers/subscriber-detail.ts";
import { suppressionListEndpoints } from "./audience/suppression-lists/endpoints.ts";
import { listSuppressionsOf } from "./audience/suppression-lists/entry-store.ts";
import { isSegmentUsedBySuppression } from "./audience/suppression-lists/store.ts";
import { createWaker, notifyWorkers } from "./delivery/channel.ts";
import { registerInbox } from "./delivery/inbox.ts";
import { mergeLanes } from "./delivery/lanes.ts";
import { readGateway } from "./delivery/sms/gateway-settings.ts";
import { countQueue } from "./delivery/store.ts";
import { warmUpStates } from "./delivery/warm-up-state.ts";
import { createChecker, createZonesResolver } from "./hygiene/blacklist/checker.ts";
import { blacklistEndpoints } from "./hygiene/blacklist/endpoints.ts";
import { listedCountOf } from "./hygiene/blacklist/monitor-store.ts";
import { readZones } from "./hygiene/blacklist/zones.ts";
import { proberFor } from "./hygiene/probe/prober.ts";
import { validationEndpoints } from "./hygiene/validations/endpoints.ts";
import { openExaminer } from "./hygiene/validations/open-examiner.ts";
import { dkimEndpoints } from "./identity/dkims/endpoints.ts";
import { routingRuleEndpoints } from "./identity/routing-rules/endpoints.ts";
import { findRuleOfSendingIp } from "./identity/routing-rules/store.ts";
import { sendingDomainEndpoints } from "./identity/sending-domains/endpoints.ts";
import { type SendingIpDeps, sendingIpEndpoints } from "./identity/sending-ips/endpoints.ts";
import { listSendingIps } from "./identity/sending-ips/store.ts";
import { trackingDomainEndpoints } from "./identity/tracking-domains/endpoints.ts";
import { findTrackingDomain, isTrackingDomain } from "./identity/tracking-domains/store.ts";
import { registerConfirmationPage } from "./identity/verified-senders/confirmation-page.ts";
import { verifiedSenderEndpoints } from "./identity/verified-senders/endpoints.ts";
import { createZoneResolver } from "./identity/zone-resolver.ts";
import { domainReportEndpoints } from "./inbound/reports/endpoints.ts";
import { countInboundMails } from "./inbound/returns/store.ts";
import { messageEndpoints } from "./messages/endpoints.ts";
import { recordEngagements } from "./messages/engagement.ts";
import { insertOriginName } from "./messages/origin-names-store.ts";
import { systemClock } from "./platform/clock.ts";
import { readConfig } from "./platform/config.ts";
import { createDatabase, type Database } from "./platform/database/pool.ts";
import { createAuthenticator } from "./platform/http/authenticate.ts";
import { registerDocs } from "./platform/http/docs-page.ts";
import type { Endpoint } from "./platform/http/endpoint.ts";
import { type ReadinessCheck, registerHealth } from "./platform/http/health.ts";
import { createRateLimiter } from "./platform/http/rate-limit.ts";
import { createServer } from "./platform/http/server.ts";
import { jobEndpoints } from "./platform/jobs/endpoints.ts";
import { createLog } from "./platform/log.ts";
import { createMetrics } from "./platform/metrics.ts";
import { createSecrets } from "./platform/secrets.ts";
import { createEngagementReactions, onUnsubscribed } from "./reactions.ts";
import { bounceEndpoints } from "./reporting/bounces/endpoints.ts";
import { bouncesComplaintsEndpoints } from "./reporting/bounces-complaints/endpoints.ts";
import { channelReportEndpoints } from "./reporting/channels/endpoints.ts";
import { complaintEndpoints } from "./reporting/complaints/endpoints.ts";
import { dashboardEndpoints } from "./reporting/dashboard/endpoints.ts";
import { deliverabilityEndpoints } from "./reporting/deliverability/endpoints.ts";
import { sendingReportEndpoints } from "./reporting/sending/endpoints.ts";
import { createAcceptor } from "./sending/accept.ts";
import { requireOneMore } from "./sending/allowance.ts";
import { autoresponderEndpoints } from "./sending/autoresponders/endpoints.ts";
import { findContentToSend, findSentMail } from "./sending/autoresponders/mail-store.ts";
import { campaignAnalyticsEndpoints } from "./sending/campaigns/analytics/endpoints.ts";
import { mailHistoryOf } from "./sending/campaigns/analytics/person-history.ts";
import { campaignEndpoints } from "./sending/campaigns/endpoints.ts";
import { createMailAgain } from "./sending/campaigns/mail-again.ts";
import {
  isListInUse,
  isRouteInUse,
  isSegmentInUse,
  isTrackingDomainInUse,
  listLastCampaigns,
} from "./sending/campaigns/store.ts";
import { emailEndpoints } from "./sending/emails/endpoints.ts";
import { createPlatformMail } from "./sending/platform-mail.ts";
import { receiptKey } from "./sending/sms/receipt-link.ts";
import { registerSmsReceipts } from "./sending/sms/receipt-page.ts";
import { fieldUses, findAutoresponderOfList } from "./sending/uses-store.ts";
import type { Services } from "./services.ts";
import { isolateTrackingHosts } from "./tracking/host-isolation.ts";
import { type RenderMail, registerTrackingPages } from "./tracking/pages.ts";
import { createRecorder } from "./tracking/recorder.ts";
import { mailLinkKey } from "./tracking/tokens.ts";
import { webhookEndpoints } from "./webhooks/endpoints.ts";
import { announceCampaigns, announceSubscriber, announceVerification } from "./webhooks/house-events.ts";
import { announceSuppressedSql } from "./webhooks/suppressed-store.ts";
import { apiKeyEndpoints } from "./workspace/api-keys/endpoints.ts";
import { createLastUsed } from "./workspace/api-keys/last-used.ts";
import { findKeyByHash } from "./workspace/api-keys/store.ts";
import { billingEndpoints } from "./workspace/billing/endpoints.ts";
import { topUpEndpoints } from "./workspace/billing/payments/endpoints.ts";
import { registerPaymentPages } from "./workspace/billing/payments/pages.ts";
import { stripeOf } from "./workspace/billing/payments/stripe.ts";
import { readPlans } from "./workspace/billing/plans-file.ts";

/** Whoever checks the same target again and again is not a burden to the zones. */
const BLACKLIST_ANSWER_MS = 5 * 60_000;

export interface Api {
  readonly endpoints: readonly Endpoint[];
  readonly server: FastifyInstance;
  /** Counts what the delivery processes report. */
  readonly countOutcome: (status: string, amount: number) => void;
  /** Finishes what is in flight, then lets go of everything the API holds. */
  stop(): Promise<void>;
}

/** The HTTP API, not yet listening. Nothing is connected or read while it is built. */
export function createApi(services: Services, checks: Readonly<Record<string, ReadinessCheck>> = {}): Api {
  const { config, log, clock, database, secrets } = services;
  const metrics = createMetrics();
  metrics.gauge({
    name: "posthaste_delivery_queue",
    help: "Messages in the delivery queue: waiting, or leased by a worker.",
    label: "state",
    read: () => countQueue(database),
  });
  metrics.gauge({
    name: "posthaste_inbound_mails",
    help: "Mails that came back and are still stored, by what became of them.",
    label: "status",
    read: () => countInboundMails(database),
  });
  const rateLimiter = createRateLimiter({
    limit: config.RATE_LIMIT,
    redisUrl: config.REDIS_URL,
    monotonicMs: () => performance.now(),
    log,
  });
  const lastUsed = createLastUsed({ db: database, clock, log });
  const authenticator = createAuthenticator({
    findKey: (keyHash) => findKeyByHash(database, keyHash),
    now: () => clock.now(),
    onUse: (caller) => lastUsed.note(caller),
  });
  const resolverFor = createZoneResolver(config.DNS_SERVERS);
  const plans = readPlans(config.PLANS_FILE);
  const paymentGateway = stripeOf(config);
  const publicUrl = () => config.PUBLIC_URL?.href.replace(/\/$/, "") ?? listeningUrl(server);
  const providers = mergeLanes(config.LANES_FILE).map(({ name }) => name);
  const ownHosts = [config.TRACKING_HOST, config.MAIL_HOSTNAME, config.PUBLIC_URL?.hostname ?? ""];
  const recorder = createRecorder({
    log,
    commit: (engagements) =>
      database.transaction((tx) => recordEngagements(tx, engagements, createEngagementReactions(clock)), {
        mayRepeat: true,
      }),
  });
  const prober = proberFor(config);
  const acceptor = createAcceptor({
    db: database,
    clock,
    plans,
    onCommitted: createWaker(database),
    announceSuppressed: announceSuppressedSql,
  });
  const smsGateway = config.SMS_GATEWAY_URL && readGateway(config.SMS_GATEWAY_URL);
  const endpoints: Endpoint[] = [
    ...apiKeyEndpoints({
      db: database,
      clock,
      endpoints: () => endpoints,
      forgetKeys: () => authenticator.forget(),
      onRemoved: (tx, workspaceId, key) => insertOriginName(tx, workspaceId, "api", key),
    }),
    ...billingEndpoints({ db: database, clock, plans }),
    ...topUpEndpoints({ db: database, clock, log, gateway: paymentGateway, publicUrl }),
    ...mailingListEndpoints({ db: database, clock, campaigns: listCampaigns }),
    ...subscriberEndpoints({ db: database, clock, historyOf, onSubscriber: announceSubscriber }),
    ...importEndpoints({ db: database, dataDir: config.DATA_DIR }),
    ...exportEndpoints({ db: database }),
    ...customFieldEndpoints({ db: database, clock, uses: fieldUses }),
    ...segmentEndpoints({ db: database, clock, uses: [usedBySuppression, usedByCampaign] }),
    ...suppressionListEndpoints({ db: database, clock }),
    ...sendingDomainEndpoints({
      db: database,
      clock,
      secrets,
      config,
      resolverFor,
      onVerification: announceVerification,
    }),
    ...domainReportEndpoints({ db: database, clock }),
    ...verifiedSenderEndpoints({
      db: database,
      clock,
      secrets,
      publicUrl,
      sendPlatformMail: createPlatformMail(config.PLATFORM_SENDER, clock),
    }),
    ...dkimEndpoints({ db: database, clock, secrets, resolverFor }),
    ...trackingDomainEndpoints({
      db: database,
      clock,
      resolverFor,
      target: config.TRACKING_HOST,
      ownHosts,
      isInUse: isTrackingDomainInUse,
    }),
    ...sendingIpEndpoints({
      db: database,
      clock,
      mailHostname: config.MAIL_HOSTNAME,
      allowLoopback: config.ALLOW_PRIVATE_MX,
      claimable: config.SENDING_IPS,
      warmUpsOf: (db, workspaceId, ips, now) => warmUpStates(db, workspaceId, ips, providers, now),
      userOf: userOfSendingIp,
    }),
    ...routingRuleEndpoints({
      db: database,
      clock,
      secrets,
      providers,
      allowPrivate: config.ALLOW_PRIVATE_MX,
      userOf: async (db, workspaceId, ruleId) =>
        (await isRouteInUse(db, workspaceId, { ruleId })) ? CAMPAIGN_UNDER_WAY : undefined,
    }),
    ...campaignEndpoints({
      db: database,
      clock,
      acceptor,
      publicUrl,
      notifyWorkers,
      onCampaigns: announceCampaigns,
      hasSmsGateway: smsGateway !== null,
      hasTrackingDomain: async (db, workspaceId, id) =>
        (await findTrackingDomain(db, workspaceId, id)) !== undefined,
      requireAllowance: (workspaceId) => requireOneMore(database, plans, workspaceId, clock.now()),
    }),
    ...campaignAnalyticsEndpoints({ db: database }),
    ...autoresponderEndpoints({ db: database, clock, notifyWorkers }),
    ...emailEndpoints({
      acceptor,
      clock,
      platformFrom: config.PLATFORM_FROM,
    }),
    ...blacklistEndpoints({
      db: database,
      clock,
      plans,
      checker: createChecker({
        resolver: createZonesResolver(config.DNS_SERVERS),
        zones: readZones(config.BLACKLIST_ZONES_FILE),
        clock,
        keptMs: BLACKLIST_ANSWER_MS,
      }),
    }),
    ...validationEndpoints({
      db: database,
      clock,
      plans,
      dataDir: config.DATA_DIR,
      examiner: openExaminer(services, prober),
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
    }),
    ...jobEndpoints({ db: database, dataDir: config.DATA_DIR }),
    ...webhookEndpoints({ db: database, clock, secrets, allowPrivate: config.ALLOW_PRIVATE_WEBHOOKS }),
  ];
  const server = createServer({
    endpoints,
    database,
    dataDir: config.DATA_DIR,
    authenticator,
    rateLimiter,
    trustedProxies: config.TRUSTED_PROXIES,
    corsOrigins: config.CORS_ORIGINS,
    log,
    onAnswer: (...answer) => metrics.observe(...answer),
    pages: (pages) => {
      isolateTrackingHosts(pages, ownHosts, (host) => isTrackingDomain(database, host));
      registerTrackingPages(pages, {
        db: database,
        clock,
        key: mailLinkKey(secrets),
        recorder,
        onUnsubscribed,
        renderMail: createRenderMail(database),
      });
      if (smsGateway?.kind === "http") {
        registerSmsReceipts(pages, {
          db: database,
          clock,
          key: receiptKey(secrets),
          gateway: smsGateway.name,
        });
      }
      registerHealth(pages, { database, dataDir: config.DATA_DIR, metrics, checks });
      registerDocs(pages);
      if (paymentGateway)
        registerPaymentPages(pages, { db: database, clock, plans, gateway: paymentGateway });
      registerConfirmationPage(pages, { db: database, clock, secrets });
      if (config.MAIL_MODE === "capture") registerInbox(pages, { db: database });
    },
  });
  return {
    endpoints,
    server,
    countOutcome: metrics.counter("posthaste_message_outcomes_total", "What became of messages.", "status"),
    async stop() {
      // Conversations with mail servers end at once, so that nobody waits for them.
      await Promise.all([server.close(), prober?.close()]);
      await recorder.flush();
      await Promise.all([lastUsed.flush(), rateLimiter.close()]);
    },
  };
}

/** What stands further up the house asks about campaigns by these. */
const usedBySuppression: SegmentUse = async (db, workspaceId, segmentId) =>
  (await isSegmentUsedBySuppression(db, workspaceId, segmentId)) ? "A suppression list" : undefined;
const usedByCampaign: SegmentUse = async (db, workspaceId, segmentId) =>
  (await isSegmentInUse(db, workspaceId, segmentId)) ? "A campaign that is not over" : undefined;
const listCampaigns: ListCampaigns = {
  latest: listLastCampaigns,
  async userOf(db, workspaceId, id) {
    if (await isListInUse(db, workspaceId, id)) {
      return "A campaign to this list is scheduled or sending: cancel it first";
    }
    const autoresponder = await findAutoresponderOfList(db, workspaceId, id);
    return autoresponder && `The autoresponder "${autoresponder}" writes to this list: deactivate it first`;
  },
};
const historyOf: HistoryOf = async (db, workspaceId, { id, email }) => ({
  ...(await mailHistoryOf(db, workspaceId, id)),
  suppressions: await listSuppressionsOf(db, workspaceId, email),
});

const CAMPAIGN_UNDER_WAY = "A campaign that is scheduled or being sent";
const userOfSendingIp: SendingIpDeps["userOf"] = async (db, workspaceId, { id, ip }) => {
  if (await isRouteInUse(db, workspaceId, { ip })) return CAMPAIGN_UNDER_WAY;
  const rule = await findRuleOfSendingIp(db, workspaceId, id);
  return rule && `The routing rule "${rule.name}"`;
};

/** The mail of a campaign once more, or of an autoresponder. */
function createRenderMail(db: Database): RenderMail {
  const ofCampaign = createMailAgain(db);
  const ofAutoresponder = createMailAgain(db, { findSentMail, findContent: findContentToSend });
  return async (mail, links) => (await ofCampaign(mail, links)) ?? ofAutoresponder(mail, links);
}

/** Every endpoint, for whoever only reads what they are: no file is made and no database is asked. */
export function endpointsForDocs(): readonly Endpoint[] {
  const log = createLog("silent");
  const database = createDatabase("", { size: 1, name: "docs", onError: () => {} });
  const secrets = createSecrets("");
  return createApi({ config: readConfig({}), log, clock: systemClock, database, secrets }).endpoints;
}

function listeningUrl(server: FastifyInstance): string {
  const address = server.server.address();
  return typeof address === "object" && address ? `http://127.0.0.1:${address.port}` : "";
}
