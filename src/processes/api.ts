/** The HTTP API: its endpoints (endpoints.ts), its public pages and its metrics. */

import type { FastifyInstance } from "fastify";
import { registerAudiencePages } from "#audience/assembly.ts";
import { registerDeliveryPages } from "#delivery/assembly.ts";
import { WorkerNotifier } from "#delivery/queue/notify-workers.ts";
import { proberFor } from "#hygiene/probe/prober.ts";
import { registerIdentityPages } from "#identity/assembly.ts";
import { isTrackingDomain } from "#identity/tracking-domains/store.ts";
import { trackingBase } from "#identity/tracking-domains/tracking-base-url.ts";
import { registerMcp } from "#mcp/register-route.ts";
import { recordEngagements } from "#messages/record-engagement.ts";
import { registerOverviewPages } from "#overview/assembly.ts";
import { auditedDatabase } from "#platform/audit/audited-database.ts";
import { systemClock } from "#platform/clock.ts";
import { readConfig } from "#platform/config/config.ts";
import type { ProcessContext } from "#platform/context/process-context.ts";
import { createDatabase } from "#platform/database/pool.ts";
import { createRateLimiter } from "#platform/http/auth/rate-limit.ts";
import { SESSION_COOKIE } from "#platform/http/auth/session-cookie.ts";
import { Authenticator } from "#platform/http/authenticate.ts";
import { registerConsole } from "#platform/http/console-pages.ts";
import { registerDocs } from "#platform/http/docs-page.ts";
import type { Endpoint } from "#platform/http/endpoint.ts";
import type { ReadinessCheck } from "#platform/http/health.ts";
import { registerHome } from "#platform/http/home-page.ts";
import { createServer } from "#platform/http/server.ts";
import { createLog } from "#platform/log/log.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import { createAcceptor } from "#sending/acceptance/acceptor.ts";
import { registerSendingPages, renderSentMail, signupMail, smsGatewayOf } from "#sending/assembly.ts";
import { createWebViewImages } from "#sending/mail/web-view.ts";
import { MEDIA_PATH } from "#sending/media/media-link.ts";
import { createAccountMailer, createPlatformMail } from "#sending/platform-mail/platform-mail.ts";
import { EngagementRecorder } from "#tracking/engagement-recorder.ts";
import { isolateTrackingHosts } from "#tracking/host-isolation.ts";
import { mailLinkKeys } from "#tracking/link-tokens.ts";
import { registerTrackingPages } from "#tracking/register-routes.ts";
import { announceSuppressedSql } from "#webhooks/deliveries/announce-suppressed-store.ts";
import { announceFormAbuse, announceSubscriber } from "#webhooks/events/announce-non-message-events.ts";
import { createLastUsed } from "#workspace/api-keys/last-used.ts";
import { RequestLog } from "#workspace/api-keys/requests/request-log.ts";
import { insertRequests } from "#workspace/api-keys/requests/store.ts";
import { findKeyByHash } from "#workspace/api-keys/store.ts";
import { createPeopleParts, registerWorkspacePages } from "#workspace/assembly.ts";
import { insertAuditEvent } from "#workspace/audit/store.ts";
import { LimitNotices } from "#workspace/billing/log-reached-limits.ts";
import { stripeOf } from "#workspace/billing/payments/stripe.ts";
import { readPlans } from "#workspace/billing/plans-file.ts";
import { createLastSeen, findMembership, findSession } from "#workspace/people/store.ts";
import { createEndpoints } from "./endpoints.ts";
import { registerHealthPages } from "./health-pages.ts";
import { createProcessMetrics, type ProcessMetrics } from "./metrics.ts";
import { createEngagementReactions, onResubscribed, onUnsubscribed } from "./reactions.ts";

export interface Api {
  readonly endpoints: readonly Endpoint[];
  readonly server: FastifyInstance;
  /** Finishes requests in flight, then closes everything that the API has opened. */
  stop(): Promise<void>;
}

/** Builds the HTTP API, which does not listen yet. Building connects to nothing and reads nothing. */
export function createApi(
  services: ProcessContext,
  checks: Readonly<Record<string, ReadinessCheck>> = {},
  metrics: ProcessMetrics = createProcessMetrics(services),
): Api {
  const { config, log, clock, requests, database: background, secrets } = services;
  const database = auditedDatabase(requests);
  const rateLimiter = createRateLimiter({
    limit: config.RATE_LIMIT,
    redisUrl: config.REDIS_URL,
    monotonicMs: () => performance.now(),
    log,
  });
  const lastUsed = createLastUsed({ db: background, clock, log });
  const lastSeen = createLastSeen({ db: background, clock, log });
  const keyRequests = new RequestLog({
    write: (requests) => insertRequests(background, requests),
    monotonicMs: () => clock.monotonicMs(),
    log,
  });
  const authenticator = new Authenticator({
    findKey: (keyHash) => findKeyByHash(database, keyHash),
    findSession: (tokenHash, now) => findSession(database, tokenHash, now),
    findMembership: (userId, workspaceId) => findMembership(database, userId, workspaceId),
    clock,
    onUse: ({ workspaceId, actor }) =>
      (actor.kind === "key" ? lastUsed : lastSeen).note(workspaceId, actor.id),
  });
  const plans = readPlans(config.PLANS_FILE);
  const paymentGateway = stripeOf(config);
  const publicUrl = () => config.PUBLIC_URL?.href.replace(/\/$/, "") ?? listeningUrl(server);
  const ownHosts = [config.TRACKING_HOST, config.MAIL_HOSTNAME, config.PUBLIC_URL?.hostname ?? ""];
  const recorder = new EngagementRecorder({
    log,
    commit: (engagements) =>
      background.transaction((tx) => recordEngagements(tx, engagements, createEngagementReactions(clock)), {
        mayRepeat: true,
      }),
  });
  const prober = proberFor(config);
  const limitNotices = new LimitNotices(log, () => clock.monotonicMs());
  const workers = new WorkerNotifier(database);
  const acceptor = createAcceptor({
    db: database,
    clock,
    plans,
    onCommitted: () => workers.notify(),
    announceSuppressed: announceSuppressedSql,
    onLimit: limitNotices.note,
  });
  const smsGateway = smsGatewayOf(config);
  const forgetKeys = () => authenticator.forget();
  const people = createPeopleParts(
    { ...services, database },
    {
      sendAccountMail: createAccountMailer(createPlatformMail(config.PLATFORM_SENDER, clock), clock),
      forgetSessions: forgetKeys,
      publicUrl,
      onPasswordHash: () =>
        metrics.count({ name: "posthaste_password_hashes_total", labels: { algorithm: "argon2id" } }),
    },
  );
  const parts = { ...services, database, plans, paymentGateway, publicUrl, ownHosts, people };
  const endpoints = createEndpoints({
    ...parts,
    acceptor,
    prober,
    hasSmsGateway: smsGateway !== null,
    forgetKeys,
    onLimit: limitNotices.note,
  });
  const server = createServer({
    endpoints,
    database: requests,
    insertAuditEvent,
    dataDir: config.DATA_DIR,
    authenticator,
    rateLimiter,
    trustedProxies: config.TRUSTED_PROXIES,
    corsOrigins: config.CORS_ORIGINS,
    publicUrl: config.PUBLIC_URL,
    clock,
    log,
    databaseMs: services.requestMs,
    onAnswer: (...answer) => metrics.observe(...answer),
    onKeyAnswer: (answer) => keyRequests.note(answer),
    pages: (pages) => {
      isolateTrackingHosts(pages, { ownHosts, alsoServed: [MEDIA_PATH] }, (host) =>
        isTrackingDomain(database, host),
      );
      registerTrackingPages(pages, {
        db: database,
        clock,
        keys: mailLinkKeys(secrets),
        recorder,
        onUnsubscribed,
        onResubscribed,
        renderMail: renderSentMail({
          db: database,
          linkBase: (workspaceId, urlDomainId) =>
            trackingBase(database, workspaceId, urlDomainId, publicUrl()),
        }),
        findImage: createWebViewImages(database),
      });
      registerSendingPages(pages, parts, smsGateway);
      registerHealthPages(pages, services, { metrics, checks });
      registerDocs(pages);
      registerConsole(pages);
      registerMcp(pages, { endpoints, authenticator, publicUrl });
      registerHome(pages, { hasInbox: config.MAIL_MODE === "capture" });
      registerWorkspacePages(pages, parts);
      registerIdentityPages(pages, parts);
      registerAudiencePages(pages, parts, {
        ...signupMail(parts),
        onSubscriber: announceSubscriber,
        onFormAbused: announceFormAbuse,
      });
      registerDeliveryPages(pages, parts, ({ cookies }) =>
        authenticator.isOperator(cookies.get(SESSION_COOKIE)),
      );
      registerOverviewPages(pages, parts, people.hasher);
    },
  });
  return {
    endpoints,
    server,
    async stop() {
      // Closes the SMTP sessions of address probes at once, so that the requests that wait for them end.
      await Promise.all([server.close(), prober?.close()]);
      await recorder.flush();
      await Promise.all([lastUsed.flush(), lastSeen.flush(), keyRequests.flush(), rateLimiter.close()]);
    },
  };
}

/** Every endpoint, for generating documentation: creates no file and asks no database. */
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
