/**
 * The only wiring of endpoints, pages, jobs and reactions. It closes the loops that the import order forbids, by
 * passing functions down.
 */
import type { FastifyInstance } from "fastify";
import { createWaker } from "./delivery/channel.ts";
import type { FindIdentity } from "./delivery/compose.ts";
import { platformSigningKey, signingKey } from "./identity/dkims/signing-key.ts";
import { returnPathHost } from "./identity/return-path.ts";
import { registerConfirmationPage } from "./identity/verified-senders/confirmation-page.ts";
import { verifiedSenderEndpoints } from "./identity/verified-senders/endpoints.ts";
import { messageEndpoints } from "./messages/endpoints.ts";
import { ensurePartitions } from "./messages/partitions.ts";
import { systemClock } from "./platform/clock.ts";
import { type Config, readConfig } from "./platform/config.ts";
import { createDatabase } from "./platform/database/pool.ts";
import { createAuthenticator } from "./platform/http/authenticate.ts";
import type { Endpoint } from "./platform/http/endpoint.ts";
import { createRateLimiter } from "./platform/http/rate-limit.ts";
import { createServer } from "./platform/http/server.ts";
import { type JobRunner, startRunner } from "./platform/jobs/runner.ts";
import { createLog } from "./platform/log.ts";
import { createSecrets } from "./platform/secrets.ts";
import { createAcceptor } from "./sending/accept.ts";
import { emailEndpoints } from "./sending/emails/endpoints.ts";
import { createPlatformMail } from "./sending/platform-mail.ts";
import type { Services } from "./services.ts";
import { apiKeyEndpoints } from "./workspace/api-keys/endpoints.ts";
import { createLastUsed } from "./workspace/api-keys/last-used.ts";
import { findKeyByHash } from "./workspace/api-keys/store.ts";

export interface Api {
  readonly endpoints: readonly Endpoint[];
  readonly server: FastifyInstance;
  /** Finishes what is in flight, then lets go of everything the API holds. */
  stop(): Promise<void>;
}

/** The HTTP API, not yet listening. Nothing is connected or read while it is built. */
export function createApi(services: Services): Api {
  const { config, log, clock, database, secrets } = services;
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
    onUse: lastUsed.note,
  });
  const publicUrl = () => config.PUBLIC_URL?.href.replace(/\/$/, "") ?? listeningUrl(server);
  const endpoints: Endpoint[] = [
    ...apiKeyEndpoints({
      db: database,
      clock,
      endpoints: () => endpoints,
      forgetKeys: () => authenticator.forget(),
    }),
    ...verifiedSenderEndpoints({
      db: database,
      clock,
      secrets,
      publicUrl,
      sendPlatformMail: createPlatformMail(platformSender(config), clock),
    }),
    ...emailEndpoints({
      acceptor: createAcceptor(database, createWaker(database)),
      clock,
      platformFrom: config.PLATFORM_FROM,
    }),
    ...messageEndpoints({ db: database }),
  ];
  const server = createServer({
    endpoints,
    database,
    authenticator,
    rateLimiter,
    trustedProxies: config.TRUSTED_PROXIES,
    corsOrigins: config.CORS_ORIGINS,
    log,
    onAnswer: () => {},
    pages: (pages) => {
      registerConfirmationPage(pages, { db: database, clock, secrets });
    },
  });
  return {
    endpoints,
    server,
    async stop() {
      await server.close();
      await Promise.all([lastUsed.flush(), rateLimiter.close()]);
    },
  };
}

/** Background jobs and everything that recurs. */
export function startJobs({ database, config, clock, log }: Services): Promise<JobRunner> {
  return startRunner({
    database,
    dataDir: config.DATA_DIR,
    log,
    handlers: {},
    recurring: [
      { name: "message-partitions", seconds: 86_400, run: () => ensurePartitions(database, clock.now()) },
    ],
  });
}

/**
 * What the engine has to know about a sender: the domain's own key and return path. A verified sender has no domain
 * of its own here; its mail bears the platform's signature, as the service's own mail does.
 */
export function createIdentityFinder({ database, secrets, config }: Services): FindIdentity {
  const platformDomain = platformSender(config).split("@")[1] ?? "";
  return async (workspaceId, fromDomain) => {
    const [own, host] = await Promise.all([
      signingKey(database, secrets, workspaceId, fromDomain),
      returnPathHost(database, workspaceId, fromDomain, config.BOUNCE_DOMAIN),
    ]);
    return {
      signingKey: own ?? (await platformSigningKey(database, secrets, platformDomain)),
      returnPathHost: host,
    };
  };
}

/** Every endpoint, for whoever only reads what they are: no file is made and no database is asked. */
export function endpointsForDocs(): readonly Endpoint[] {
  const log = createLog("silent");
  const database = createDatabase("", { size: 1, name: "docs", onError: () => {} });
  const secrets = createSecrets("");
  return createApi({ config: readConfig({}), log, clock: systemClock, database, secrets }).endpoints;
}

/** Sender of the service's own mail. */
function platformSender(config: Config): string {
  return config.PLATFORM_FROM ?? `posthaste@${config.MAIL_HOSTNAME}`;
}

function listeningUrl(server: FastifyInstance): string {
  const address = server.server.address();
  return typeof address === "object" && address ? `http://127.0.0.1:${address.port}` : "";
}
