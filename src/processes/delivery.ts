/**
 * The delivery process: a child of `posthaste serve`, so that its work does not add to the API's latency. It reports to
 * its parent when it is ready, that it still looks at the queue, and what it has counted for /metrics.
 */
import { addressOf, findSuppressions } from "#audience/suppression-lists/suppression-check.ts";
import type { LeasedMessage } from "#delivery/message/message.ts";
import type { Decision, PresendCheck } from "#delivery/message/presend-decision.ts";
import { PLANNER_SETTINGS } from "#delivery/queue/queue-store.ts";
import { startDeliveryWorker, type WorkerOptions } from "#delivery/start-delivery-worker.ts";
import { createResolver } from "#dns/network-resolver.ts";
import { findRouting, routeChoice } from "#identity/routing-rules/load-routing.ts";
import { readConfig } from "#platform/config/config.ts";
import { createProcessContext, type ProcessContext } from "#platform/context/process-context.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { endWithParent } from "#platform/process/exit-with-parent.ts";
import { ProcessRegistration } from "#platform/process/process-registration.ts";
import { lowerThreadPoolPriority } from "#platform/process/thread-pool-priority.ts";
import { createAutoresponderMail } from "#sending/autoresponders/presend-check.ts";
import { autoPauseLimitsOf } from "#sending/campaigns/lifecycle/auto-pause.ts";
import { findHalted } from "#sending/halted/find-halted.ts";
import { createCampaignMail } from "#sending/mail/campaign-presend-check.ts";
import type { CampaignMailDeps } from "#sending/mail/deps.ts";
import { findCampaignRoute } from "#sending/mail/presend-store.ts";
import { receiptKeys, receiptLink } from "#sending/sms/receipt-link.ts";
import { announceCampaigns } from "#webhooks/events/announce-non-message-events.ts";
import { CounterTally, type CountIncrement } from "./counters.ts";
import { campaignLinks, composing, publicUrlOf } from "./mail-identity.ts";
import { createReactions } from "./reactions.ts";

/** How often it reports to its parent. */
const REPORT_MS = 1_000;
/** Recursive resolvers take up to ten seconds to report that a domain's name servers do not answer (BIND's resolver-query-timeout). */
const DNS = { timeoutMs: 15_000, tries: 5 };

/** A message from the delivery process to its parent. */
export type WorkerReport =
  | { readonly kind: "ready" }
  | {
      readonly kind: "report";
      /** Whether it has looked at the queue since the last report. */
      readonly hasLooked: boolean;
      readonly counts: readonly CountIncrement[];
    };

/** Runs until SIGTERM or until the parent exits. */
export async function deliver(environment: Readonly<Record<string, string | undefined>>): Promise<void> {
  const config = readConfig(environment);
  const url = config.DATABASE_URL ?? "";
  const services = createProcessContext(config, url, "posthaste delivery", PLANNER_SETTINGS);
  const { database, clock, log, secrets } = services;
  const stopped = Promise.withResolvers<void>();
  // SIGTERM can arrive more than once: from the parent, and from a supervisor that signals every process.
  process.on("SIGTERM", () => stopped.resolve());
  // A terminal sends Ctrl-C to the whole group; the parent decides when this process stops.
  process.on("SIGINT", () => {});
  endWithParent();
  await lowerThreadPoolPriority();

  const tally = new CounterTally();
  let hasLooked = false;
  const worker = await startDeliveryWorker({
    config,
    db: database,
    clock,
    log,
    resolver: createResolver({ servers: config.DNS_SERVERS, ...DNS }),
    ...composing(services, () => publicUrlOf(config)),
    findRouting: (workspaceId) => findRouting(database, secrets, workspaceId),
    async findChoice(workspaceId, campaignId) {
      const fields = await findCampaignRoute(database, workspaceId, campaignId);
      return routeChoice(fields ?? { virtualMtaIp: null, routingRuleId: null });
    },
    assemblyThread: new URL("assembly-thread.ts", import.meta.url),
    smsReceiptUrl: createReceiptUrl(services),
    check: createPresendCheck(services),
    findHalted: () => findHalted(database),
    onMoved: createReactions(clock, tally.add),
    onResult({ outcome }, lane) {
      if (outcome === null) return;
      const { status } = outcome;
      tally.add({ name: "posthaste_message_outcomes_total", labels: { status } });
      if (lane === undefined) return;
      tally.add({ name: "posthaste_provider_attempts_total", labels: { provider: lane, result: status } });
    },
    onLook() {
      hasLooked = true;
    },
  });
  // The parent can exit at any time, and endWithParent ends this process then: a report that fails is no fault.
  const tell = (report: WorkerReport) => process.send?.(report, undefined, undefined, () => {});
  const reporting = setInterval(() => {
    tell({ kind: "report", hasLooked, counts: tally.take() });
    hasLooked = false;
  }, REPORT_MS).unref();
  const registration = ProcessRegistration.ofChild({
    db: database,
    log,
    roles: ["delivery"],
    report: worker.report,
  });
  tell({ kind: "ready" });
  log.info({ worker: worker.workerId, mode: config.MAIL_MODE }, "delivery started");

  await stopped.promise;
  clearInterval(reporting);
  await worker.stop();
  await registration.stop();
  await database.close();
  // An SMTP session that did not end in time keeps its socket and so the process open: exit without it.
  process.exit();
}

/** The URL that an HTTP gateway calls with the delivery receipt of an SMS. */
function createReceiptUrl({ config, secrets }: ProcessContext): WorkerOptions["smsReceiptUrl"] {
  const key = receiptKeys(secrets).signing;
  return (message) => receiptLink(message, publicUrlOf(config), key);
}

/** The pre-send check: which leased messages may still be sent, and the content of those of campaigns and autoresponders. */
function createPresendCheck(context: ProcessContext): PresendCheck {
  const { database, config, clock, log } = context;
  const deps: CampaignMailDeps = {
    db: database,
    clock,
    log,
    smsCountry: config.SMS_DEFAULT_COUNTRY,
    autoPause: autoPauseLimitsOf(config),
    onCampaignEvents: announceCampaigns,
    ...campaignLinks(context, () => publicUrlOf(config)),
  };
  const checks = new Map<string, PresendCheck>([
    ["campaign", createCampaignMail(deps)],
    ["autoresponder", createAutoresponderMail(deps)],
  ]);
  const checkOthers: PresendCheck = (messages) => findSuppressed(database, messages);
  return async (messages) => {
    const bySource = Map.groupBy(messages, ({ source }) => checks.get(source) ?? checkOthers);
    const decisions = await Promise.all([...bySource].map(([check, group]) => check(group)));
    return new Map(decisions.flatMap((decided) => [...decided]));
  };
}

/** Ends messages whose recipients were suppressed while the messages waited. */
async function findSuppressed(
  db: Queryable,
  messages: readonly LeasedMessage[],
): Promise<Map<string, Decision>> {
  const verdicts = await findSuppressions(
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
