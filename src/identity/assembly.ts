/** Assembles the identity wing: sending domains, DKIM keys, senders, tracking domains, source addresses and routes. */
import type { FastifyInstance } from "fastify";
import type { ProcessContext } from "#platform/context/process-context.ts";
import type { Endpoint } from "#platform/http/endpoint.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { dkimEndpoints } from "./dkims/endpoints.ts";
import { createZoneResolver } from "./dns-checks/zone-resolver.ts";
import { type RecheckDeps, recheckDomains, type VerificationLoss } from "./domain-verification/recheck.ts";
import type { OnVerification } from "./domain-verification/verification-change.ts";
import { type RoutingRuleDeps, routingRuleEndpoints } from "./routing-rules/endpoints.ts";
import { type RoutingTestDeps, routingTestEndpoints } from "./routing-rules/routing-test/endpoints.ts";
import { findRuleOfLastInPool, findRuleOfSendingIp } from "./routing-rules/store.ts";
import { type SendingDomainDeps, sendingDomainEndpoints } from "./sending-domains/endpoints.ts";
import { type SendingIpDeps, sendingIpEndpoints } from "./sending-ips/endpoints.ts";
import { type ReleaseSome, releaseHeldBackMail } from "./sending-ips/release-after-routing-change.ts";
import { createCertificateCheck } from "./tracking-domains/check-certificate.ts";
import { type TrackingDomainDeps, trackingDomainEndpoints } from "./tracking-domains/endpoints.ts";
import { recheckTrackingDomains, type TrackingDomainLoss } from "./tracking-domains/verify.ts";
import { registerConfirmationPage } from "./verified-senders/confirmation-page.ts";
import { type VerifiedSenderDeps, verifiedSenderEndpoints } from "./verified-senders/endpoints.ts";

/** How often it is checked which domains are due for their daily check. */
const RECHECK_SECONDS = 600;

export interface IdentityParts extends ProcessContext {
  readonly publicUrl: () => string;
  /** Hosts of the service itself: no workspace may use them as its tracking domain. */
  readonly ownHosts: readonly string[];
  /** The names of the delivery lanes. */
  readonly providers: readonly string[];
}

/** The other wings' share in these endpoints. Each `campaignWith…` names the campaign that keeps an object from being deleted. */
export interface IdentityHooks {
  readonly campaignWithDomain: SendingDomainDeps["userOf"];
  readonly campaignWithSender: VerifiedSenderDeps["userOf"];
  readonly campaignWithTrackingDomain: TrackingDomainDeps["userOf"];
  readonly campaignWithIp: SendingIpDeps["userOf"];
  readonly campaignWithRule: RoutingRuleDeps["userOf"];
  readonly removeReports: SendingDomainDeps["removeReports"];
  readonly receivingDomains: SendingDomainDeps["receivingDomains"];
  readonly sendPlatformMail: VerifiedSenderDeps["sendPlatformMail"];
  readonly warmUpsOf: SendingIpDeps["warmUpsOf"];
  readonly warmUpHistoryOf: SendingIpDeps["warmUpHistoryOf"];
  readonly previewEgress: RoutingTestDeps["previewEgress"];
  readonly onVerification: OnVerification;
}

export function identityEndpoints(parts: IdentityParts, hooks: IdentityHooks): Endpoint[] {
  const { database: db, clock, secrets, config, publicUrl, ownHosts, providers } = parts;
  const { onVerification, removeReports, sendPlatformMail, warmUpsOf } = hooks;
  const resolverFor = createZoneResolver(config.DNS_SERVERS);
  const userOfIp: SendingIpDeps["userOf"] = async (db, workspaceId, ip) =>
    (await hooks.campaignWithIp(db, workspaceId, ip)) ??
    ruleNamed(await findRuleOfSendingIp(db, workspaceId, ip.id));
  return [
    ...sendingDomainEndpoints({
      db,
      clock,
      secrets,
      config,
      resolverFor,
      onVerification,
      userOf: hooks.campaignWithDomain,
      removeReports,
      receivingDomains: hooks.receivingDomains,
    }),
    ...verifiedSenderEndpoints({
      db,
      clock,
      secrets,
      publicUrl,
      sendPlatformMail,
      userOf: hooks.campaignWithSender,
    }),
    ...dkimEndpoints({ db, clock, secrets, resolverFor, onVerification }),
    ...trackingDomainEndpoints({
      db,
      clock,
      resolverFor,
      findCertificateFault: createCertificateCheck({ servers: config.DNS_SERVERS }),
      target: config.TRACKING_HOST,
      ownHosts,
      userOf: hooks.campaignWithTrackingDomain,
    }),
    ...sendingIpEndpoints({
      db,
      clock,
      mailHostname: config.MAIL_HOSTNAME,
      allowLoopback: config.ALLOW_PRIVATE_MX,
      claimable: config.SENDING_IPS,
      warmUpsOf,
      warmUpHistoryOf: hooks.warmUpHistoryOf,
      userOf: userOfIp,
      userOfPool: async (db, workspaceId, { id }) =>
        ruleNamed(await findRuleOfLastInPool(db, workspaceId, id)),
    }),
    ...routingRuleEndpoints({
      db,
      clock,
      secrets,
      providers,
      allowPrivate: config.ALLOW_PRIVATE_MX,
      userOf: hooks.campaignWithRule,
    }),
    ...routingTestEndpoints({ db, secrets, previewEgress: hooks.previewEgress }),
  ];
}

const ruleNamed = (rule: { readonly name: string } | undefined) => rule && `The routing rule "${rule.name}"`;

/** Registers the page that a verified sender's confirmation link opens. */
export function registerIdentityPages(pages: FastifyInstance, parts: ProcessContext): void {
  const { database: db, clock, secrets } = parts;
  registerConfirmationPage(pages, { db, clock, secrets });
}

type RecurringHooks = Pick<RecheckDeps, "onVerification"> & { readonly releaseSome: ReleaseSome };

export function identityRecurring(context: ProcessContext, hooks: RecurringHooks): Recurring[] {
  const { database: db, clock, config, log } = context;
  const resolverFor = createZoneResolver(config.DNS_SERVERS);
  const findCertificateFault = createCertificateCheck({ servers: config.DNS_SERVERS });
  return [
    releaseHeldBackMail({ db, releaseSome: hooks.releaseSome }),
    {
      name: "recheck-sending-domains",
      seconds: RECHECK_SECONDS,
      async run({ signal }) {
        const onLoss = async (_tx: unknown, loss: VerificationLoss) =>
          log.warn({ ...loss }, "sending domain lost its verification: its DNS records are still missing");
        const { onVerification } = hooks;
        await recheckDomains({ db, clock, config, resolverFor, onLoss, onVerification }, signal);
      },
    },
    {
      name: "recheck-tracking-domains",
      seconds: RECHECK_SECONDS,
      async run({ signal }) {
        const onLoss = (loss: TrackingDomainLoss) =>
          log.warn({ ...loss }, "tracking domain is no longer usable: links use PUBLIC_URL instead");
        const target = config.TRACKING_HOST;
        const deps = { db, clock, target, resolverFor, findCertificateFault, onLoss };
        await recheckTrackingDomains(deps, signal);
      },
    },
  ];
}
