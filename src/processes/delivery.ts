/**
 * The delivery process: a child of `posthaste serve`, in a process of its own so that it never disturbs the API's
 * latency. Tells its parent when it is ready, that it still looks at the queue, and how many messages came to which end.
 */

import { addressOf, judgeRecipients } from "#audience/suppression-lists/suppression-check.ts";
import type { FindIdentity } from "#delivery/compose/compose.ts";
import { startDeliveryWorker, type WorkerOptions } from "#delivery/engine.ts";
import type { LeasedMessage } from "#delivery/message/message.ts";
import type { Decision, PresendCheck } from "#delivery/message/presend-check.ts";
import { PLANS_BY_KEY } from "#delivery/plans.ts";
import { returnPathKeys } from "#delivery/return-path-key.ts";
import { createResolver } from "#dns/system.ts";
import { platformSigningKey, signingKey } from "#identity/dkims/signing-key.ts";
import { returnPathHost } from "#identity/return-path.ts";
import { findRouting, routeChoice } from "#identity/routing-rules/routing.ts";
import { trackingBase, trackingBaseBelow } from "#identity/tracking-domains/tracking-base.ts";
import { type Config, readConfig } from "#platform/config/config.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { endWithParent } from "#platform/process/exit-with-parent.ts";
import { lowerThreadPoolPriority } from "#platform/process/thread-pool-priority.ts";
import { createAutoresponderMail } from "#sending/autoresponders/leased-mail.ts";
import { listStopped } from "#sending/autoresponders/store.ts";
import { brakeLimitsOf } from "#sending/campaigns/lifecycle/auto-pause.ts";
import type { CampaignMailDeps } from "#sending/mail/deps.ts";
import { createCampaignMail } from "#sending/mail/leased-mail.ts";
import { findRouteFields, listHaltedIds } from "#sending/mail/leased-store.ts";
import { receiptKeys, receiptLink } from "#sending/sms/receipt-link.ts";
import { mailLinkKeys, mailLinks, unsubscribeMailbox } from "#tracking/tokens.ts";
import { trackMail } from "#tracking/track-mail.ts";
import { announceCampaigns } from "#webhooks/events.ts";
import { createServices, type Services } from "./context.ts";
import { createReactions } from "./reactions.ts";

/** How often the parent hears of it. */
const REPORT_MS = 1_000;
/** Recursive resolvers take up to ten seconds to say that a domain's name servers are silent (BIND's resolver-query-timeout). */
const DNS = { timeoutMs: 15_000, tries: 5 };

/** What the process says to its parent. */
export type DeliveryReport =
  | { readonly kind: "ready" }
  | {
      readonly kind: "news";
      /** Whether it has looked at the queue since the last news. */
      readonly hasLooked: boolean;
      readonly counts: Readonly<Record<string, number>>;
    };

/** Runs until SIGTERM or the end of the parent. */
export async function deliver(environment: Readonly<Record<string, string | undefined>>): Promise<void> {
  const config = readConfig(environment);
  const url = config.DATABASE_URL?.href ?? "";
  const services = createServices(config, url, "posthaste delivery", PLANS_BY_KEY);
  const { database, clock, log, secrets } = services;
  const stopped = Promise.withResolvers<void>();
  // It comes more than once: from the parent, and from a supervisor that tells every process.
  process.on("SIGTERM", () => stopped.resolve());
  // A terminal sends Ctrl-C to the whole group; the parent decides when this process stops.
  process.on("SIGINT", () => {});
  endWithParent();
  await lowerThreadPoolPriority();

  let counts: Record<string, number> = {};
  let hasLooked = false;
  const worker = await startDeliveryWorker({
    config,
    db: database,
    clock,
    log,
    resolver: createResolver({ servers: config.DNS_SERVERS, ...DNS }),
    findIdentity: createIdentityFinder(services),
    findRouting: (workspaceId) => findRouting(database, secrets, workspaceId),
    async findChoice(workspaceId, campaignId) {
      const fields = await findRouteFields(database, workspaceId, campaignId);
      return routeChoice(fields ?? { virtualMtaIp: null, routingRuleId: null });
    },
    returnPathKey: returnPathKeys(secrets).signing,
    trackHtml: trackMail,
    assemblyThread: new URL("assembly-thread.ts", import.meta.url),
    smsReceiptUrl: createReceiptUrl(services),
    check: createExaminer(services),
    async findHalted() {
      const [campaigns, autoresponders] = await Promise.all([listHaltedIds(database), listStopped(database)]);
      return {
        paused: [...campaigns.paused, ...autoresponders.paused],
        cancelled: [...campaigns.cancelled, ...autoresponders.cancelled],
      };
    },
    onMoved: createReactions(clock),
    onResult({ outcome }) {
      if (outcome) counts[outcome.status] = (counts[outcome.status] ?? 0) + 1;
    },
    onLook() {
      hasLooked = true;
    },
  });
  // The parent may end at any time, which endWithParent notices: a report that it does not read is no fault.
  const tell = (report: DeliveryReport) => process.send?.(report, undefined, undefined, () => {});
  const reporting = setInterval(() => {
    tell({ kind: "news", hasLooked, counts });
    counts = {};
    hasLooked = false;
  }, REPORT_MS).unref();
  tell({ kind: "ready" });
  log.info({ worker: worker.workerId, mode: config.MAIL_MODE }, "delivery runs");

  await stopped.promise;
  clearInterval(reporting);
  await worker.stop();
  await database.close();
  // A conversation that did not end in time holds its socket, and with it the process: nobody waits for it any more.
  process.exit();
}

/**
 * What the engine has to know about a sender: the domain's own key and return path. A verified sender has no verified
 * domain here; its mail bears the platform's signature, as the service's own mail does.
 */
function createIdentityFinder({ database, secrets, config }: Services): FindIdentity {
  const linkKey = mailLinkKeys(secrets).signing;
  const publicUrl = publicUrlOf(config);
  const platformDomain = config.PLATFORM_SENDER.split("@")[1] ?? "";
  return async (workspaceId, fromDomain) => {
    const [own, host, linkBase] = await Promise.all([
      signingKey(database, secrets, workspaceId, fromDomain),
      returnPathHost(database, workspaceId, fromDomain, config.BOUNCE_DOMAIN),
      trackingBaseBelow(database, workspaceId, fromDomain, publicUrl),
    ]);
    return {
      signingKey: own ?? (await platformSigningKey(database, secrets, platformDomain)),
      returnPathHost: host,
      tracking: { base: linkBase, key: linkKey },
    };
  };
}

/** Where an HTTP gateway tells what became of an SMS. */
function createReceiptUrl({ config, secrets }: Services): WorkerOptions["smsReceiptUrl"] {
  const key = receiptKeys(secrets).signing;
  return (message) => receiptLink(message, publicUrlOf(config), key);
}

function publicUrlOf({ PUBLIC_URL, HOST, PORT }: Config): string {
  return PUBLIC_URL?.href.replace(/\/$/, "") ?? `http://${HOST}:${PORT}`;
}

/** Whether leased messages may still be sent, and what those of campaigns and autoresponders say. */
function createExaminer({ database, config, clock, log, secrets }: Services): PresendCheck {
  const linkKey = mailLinkKeys(secrets).signing;
  const publicUrl = publicUrlOf(config);
  const deps: CampaignMailDeps = {
    db: database,
    clock,
    log,
    smsCountry: config.SMS_DEFAULT_COUNTRY,
    brake: brakeLimitsOf(config),
    onCampaigns: announceCampaigns,
    linkBase: (workspaceId, urlDomainId) => trackingBase(database, workspaceId, urlDomainId, publicUrl),
    linksOf(mail, base) {
      const links = mailLinks(mail, base, linkKey);
      if (config.INBOUND_PORT === null) return links;
      return { ...links, unsubscribeMail: unsubscribeMailbox(links, config.BOUNCE_DOMAIN) };
    },
  };
  const examiners = new Map<string, PresendCheck>([
    ["campaign", createCampaignMail(deps)],
    ["autoresponder", createAutoresponderMail(deps)],
  ]);
  const examineOthers: PresendCheck = (messages) => findSuppressed(database, messages);
  return async (messages) => {
    const bySource = Map.groupBy(messages, ({ source }) => examiners.get(source) ?? examineOthers);
    const findings = await Promise.all([...bySource].map(([examine, group]) => examine(group)));
    return new Map(findings.flatMap((found) => [...found]));
  };
}

/** Those whose recipients were suppressed while they waited. */
async function findSuppressed(
  db: Queryable,
  messages: readonly LeasedMessage[],
): Promise<Map<string, Decision>> {
  const verdicts = await judgeRecipients(
    db,
    messages.map((message) => ({
      workspaceId: message.workspace_id,
      address: addressOf(message),
      domain: message.domain,
      isPlatform: message.source === "platform",
    })),
  );
  return new Map(
    messages.flatMap(({ message_id }, index) => {
      const detail = verdicts[index]?.detail;
      return detail === undefined ? [] : [[message_id, { kind: "end", status: "suppressed", detail }]];
    }),
  );
}
