/**
 * The API: the only wiring of endpoints (endpoints.ts) and pages. (Background work is wired in processes/jobs.ts, the delivery
 * process in processes/delivery.ts.)
 */
import type { FastifyInstance } from "fastify";
import { registerSignupPages } from "#audience/signup-forms/pages.ts";
import { registerInbox } from "#delivery/capture/inbox.ts";
import { InboxAccess, inboxToken } from "#delivery/capture/inbox-access.ts";
import { createWaker } from "#delivery/queue/channel.ts";
import { countQueue } from "#delivery/queue/queue-store.ts";
import { readGateway } from "#delivery/sms/gateway-settings.ts";
import { proberFor } from "#hygiene/probe/prober.ts";
import { isTrackingDomain } from "#identity/tracking-domains/store.ts";
import { trackingBase } from "#identity/tracking-domains/tracking-base.ts";
import { registerConfirmationPage } from "#identity/verified-senders/confirmation-page.ts";
import { countInboundMails, countWaitingMails, waitOfOldestMail } from "#inbound/returns/store.ts";
import { recordEngagements } from "#messages/record-engagement.ts";
import { systemClock } from "#platform/clock.ts";
import { readConfig } from "#platform/config/config.ts";
import type { RateLimit } from "#platform/config/setting-readers.ts";
import { createDatabase } from "#platform/database/pool.ts";
import { metricsAccess } from "#platform/http/auth/metrics-access.ts";
import { createRateLimiter } from "#platform/http/auth/rate-limit.ts";
import { createAuthenticator } from "#platform/http/authenticate.ts";
import { registerDocs } from "#platform/http/docs-page.ts";
import type { Endpoint } from "#platform/http/endpoint.ts";
import { HEALTH_RATE, LIVENESS_RATE, type ReadinessCheck, registerHealth } from "#platform/http/health.ts";
import { registerHome } from "#platform/http/home-page.ts";
import { createServer } from "#platform/http/server.ts";
import { createLog } from "#platform/log/log.ts";
import { createMetrics } from "#platform/metrics.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import { createAcceptor } from "#sending/acceptance/acceptor.ts";
import { findContentToSend, findSentMail } from "#sending/autoresponders/mail-store.ts";
import { createMailAgain } from "#sending/mail/mail-again.ts";
import { createMailImages } from "#sending/mail/mail-images.ts";
import { createPlatformMail, excuseSignupMail } from "#sending/platform-mail/platform-mail.ts";
import { createSignupMailer } from "#sending/platform-mail/signup-mail.ts";
import { receiptKeys } from "#sending/sms/receipt-link.ts";
import { registerSmsReceipts } from "#sending/sms/receipt-page.ts";
import { isolateTrackingHosts } from "#tracking/host-isolation.ts";
import { type RenderMail, registerTrackingPages } from "#tracking/pages.ts";
import { createRecorder } from "#tracking/recorder.ts";
import { mailLinkKeys } from "#tracking/tokens.ts";
import { announceSuppressedSql } from "#webhooks/deliveries/suppressed-messages-store.ts";
import { announceFormAbuse, announceSubscriber } from "#webhooks/events/events.ts";
import { createLastUsed } from "#workspace/api-keys/last-used.ts";
import { findKeyByHash } from "#workspace/api-keys/store.ts";
import { LimitNotices } from "#workspace/billing/limit-notices.ts";
import { registerPaymentPages } from "#workspace/billing/payments/pages.ts";
import { stripeOf } from "#workspace/billing/payments/stripe.ts";
import { readPlans } from "#workspace/billing/plans-file.ts";
import type { Services } from "./context.ts";
import { createEndpoints } from "./endpoints.ts";
import { createEngagementReactions, onReturned, onUnsubscribed } from "./reactions.ts";

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
  const { config, log, clock, requests: database, database: background, secrets } = services;
  const metrics = createMetrics();
  metrics.gauge({
    name: "posthaste_delivery_queue",
    help: "Messages in the delivery queue: waiting, or leased by a worker.",
    label: "state",
    read: () => countQueue(background),
  });
  metrics.gauge({
    name: "posthaste_inbound_mails",
    help: "Mails that came back and are still stored, by what became of them.",
    label: "status",
    read: () => countInboundMails(background),
  });
  metrics.gauge({
    name: "posthaste_inbound_waiting_mails",
    help: "Mails that came back and wait to be processed: to signed addresses, and to open ones.",
    label: "class",
    read: () => countWaitingMails(database),
  });
  metrics.gauge({
    name: "posthaste_inbound_oldest_waiting_seconds",
    help: "For how long the oldest of them has waited; 0 when none waits.",
    label: "class",
    read: () => waitOfOldestMail(database, clock.now()),
  });
  const rateLimiter = createRateLimiter({
    limit: config.RATE_LIMIT,
    redisUrl: config.REDIS_URL,
    monotonicMs: () => performance.now(),
    log,
  });
  const ownLimiter = (rate: RateLimit) =>
    createRateLimiter({
      limit: config.RATE_LIMIT && rate,
      redisUrl: null,
      monotonicMs: () => performance.now(),
      log,
    });
  const lastUsed = createLastUsed({ db: background, clock, log });
  const authenticator = createAuthenticator({
    findKey: (keyHash) => findKeyByHash(database, keyHash),
    clock,
    onUse: (caller) => lastUsed.note(caller),
  });
  const plans = readPlans(config.PLANS_FILE);
  const paymentGateway = stripeOf(config);
  const publicUrl = () => config.PUBLIC_URL?.href.replace(/\/$/, "") ?? listeningUrl(server);
  const ownHosts = [config.TRACKING_HOST, config.MAIL_HOSTNAME, config.PUBLIC_URL?.hostname ?? ""];
  const recorder = createRecorder({
    log,
    commit: (engagements) =>
      background.transaction((tx) => recordEngagements(tx, engagements, createEngagementReactions(clock)), {
        mayRepeat: true,
      }),
  });
  const prober = proberFor(config);
  const limitNotices = new LimitNotices(log, () => clock.monotonicMs());
  const acceptor = createAcceptor({
    db: database,
    clock,
    plans,
    onCommitted: createWaker(database),
    announceSuppressed: announceSuppressedSql,
    onLimit: limitNotices.note,
  });
  const smsGateway = config.SMS_GATEWAY_URL && readGateway(config.SMS_GATEWAY_URL);
  const endpoints = createEndpoints({
    ...services,
    database,
    plans,
    acceptor,
    prober,
    paymentGateway,
    hasSmsGateway: smsGateway !== null,
    ownHosts,
    publicUrl,
    forgetKeys: () => authenticator.forget(),
    onLimit: limitNotices.note,
  });
  const server = createServer({
    endpoints,
    database,
    dataDir: config.DATA_DIR,
    authenticator,
    rateLimiter,
    trustedProxies: config.TRUSTED_PROXIES,
    corsOrigins: config.CORS_ORIGINS,
    log,
    databaseMs: services.requestMs,
    onAnswer: (...answer) => metrics.observe(...answer),
    pages: (pages) => {
      isolateTrackingHosts(pages, ownHosts, (host) => isTrackingDomain(database, host));
      registerTrackingPages(pages, {
        db: database,
        clock,
        keys: mailLinkKeys(secrets),
        recorder,
        onUnsubscribed,
        onReturned,
        renderMail: createRenderMail({
          db: database,
          linkBase: (workspaceId, urlDomainId) =>
            trackingBase(database, workspaceId, urlDomainId, publicUrl()),
        }),
        findImage: createMailImages(database),
      });
      if (smsGateway?.kind === "http") {
        registerSmsReceipts(pages, {
          db: database,
          clock,
          keys: receiptKeys(secrets),
          gateway: smsGateway.name,
        });
      }
      registerHealth(pages, {
        database,
        dataDir: config.DATA_DIR,
        metrics,
        maySeeMetrics: metricsAccess(config),
        rateLimiter: ownLimiter(HEALTH_RATE),
        livenessLimiter: ownLimiter(LIVENESS_RATE),
        checks,
      });
      registerDocs(pages);
      registerHome(pages, { hasInbox: config.MAIL_MODE === "capture" });
      if (paymentGateway)
        registerPaymentPages(pages, { db: database, clock, plans, gateway: paymentGateway });
      registerConfirmationPage(pages, { db: database, clock, secrets });
      registerSignupPages(pages, {
        db: database,
        clock,
        plans,
        log,
        secrets,
        publicUrl,
        mailer: createSignupMailer(createPlatformMail(config.PLATFORM_SENDER, clock), clock),
        excuseMail: excuseSignupMail,
        onSubscriber: announceSubscriber,
        onFormAbused: announceFormAbuse,
      });
      if (config.MAIL_MODE === "capture") {
        registerInbox(pages, { db: database, access: new InboxAccess(inboxToken(config)) });
      }
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

/** The mail of a campaign once more, or of an autoresponder. */
function createRenderMail(deps: Parameters<typeof createMailAgain>[0]): RenderMail {
  const ofCampaign = createMailAgain(deps);
  const ofAutoresponder = createMailAgain(deps, { findSentMail, findContent: findContentToSend });
  return async (...mail) => (await ofCampaign(...mail)) ?? ofAutoresponder(...mail);
}

/** Every endpoint, for whoever only reads what they are: no file is made and no database is asked. */
export function endpointsForDocs(): readonly Endpoint[] {
  const log = createLog("silent");
  const database = createDatabase("", { size: 1, name: "docs", onError: () => {} });
  const secrets = createSecrets("");
  const services = { config: readConfig({}), log, clock: systemClock, database, requests: database, secrets };
  return createApi(services).endpoints;
}

function listeningUrl(server: FastifyInstance): string {
  const address = server.server.address();
  return typeof address === "object" && address ? `http://127.0.0.1:${address.port}` : "";
}
