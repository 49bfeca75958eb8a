/**
 * Builds the delivery engine of one process (role `delivery`): a worker with the transports of the configuration. It keeps
 * nothing that another process needs, and may be killed at any time.
 */
import type { KeyObject } from "node:crypto";
import { join } from "node:path";
import type { Resolver } from "#dns/resolver-interface.ts";
import { createValidatingResolver } from "#dns/validating-resolver.ts";
import { AsyncCache } from "#platform/cache.ts";
import type { Clock } from "#platform/clock.ts";
import type { Config } from "#platform/config/config.ts";
import type { Database } from "#platform/database/pool.ts";
import type { Log } from "#platform/log/log.ts";
import { localNetworks } from "#platform/network/own-addresses.ts";
import type { ProcessReport } from "#platform/process/running-processes-store.ts";
import { CaptureTransport } from "./capture/transport.ts";
import type { TrackHtml } from "./compose/assemble-mime.ts";
import type { ComposeOptions, FindIdentity, SenderIdentity } from "./compose/compose-leased-message.ts";
import { openAssemblyThread } from "./compose/open-assembly-thread.ts";
import type { Lane } from "./lanes/default-lanes.ts";
import { laneFor, mergeLanes } from "./lanes/lanes-by-mx-host.ts";
import type { Transport, TransportEvents } from "./message/transport.ts";
import { contentLoader } from "./queue/load-large-content-store.ts";
import { MachineAddresses } from "./routes/announced-addresses.ts";
import { type DecideEgress, Egress } from "./routes/egress.ts";
import type { FindChoice, FindRouting } from "./routes/egress-rules.ts";
import { type FindRoute, routeByMx, routeToRelay } from "./routes/find-destination.ts";
import { StsPolicies } from "./routes/mta-sts-policies.ts";
import { readRelay } from "./routes/relay-url.ts";
import { DeliveryReceipts } from "./sms/delivery-receipts.ts";
import type { ShortMessage, SmsGateway } from "./sms/gateway.ts";
import { readGateway } from "./sms/gateway-settings.ts";
import { createHttpGateway } from "./sms/http-gateway.ts";
import { SmppGateway } from "./sms/smpp-gateway.ts";
import { SmsTransport } from "./sms/sms-transport.ts";
import { SmtpTransport } from "./smtp-transport.ts";
import { WarmUpQuotas } from "./warm-up/reserve-quota.ts";
import { DeliveryWorker, type DeliveryWorkerOptions } from "./worker/delivery-worker.ts";

/** The folder of journals in DATA_DIR. */
const JOURNALS = "journals";

/** Sender identities are looked up again after this: a batch asks for the same ones thousands of times. */
const IDENTITY_KEPT_MS = 15_000;
const MOST_IDENTITIES = 10_000;

export interface WorkerOptions
  extends Pick<DeliveryWorkerOptions, "check" | "findHalted" | "onMoved" | "onResult" | "onLook"> {
  readonly config: Config;
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly resolver: Resolver;
  readonly findIdentity: FindIdentity;
  /** Finds a workspace's sending IPs and routing rules, and the choice of a campaign. */
  readonly findRouting: FindRouting;
  readonly findChoice: FindChoice;
  /** The key of the tokens in return paths. */
  readonly returnPathKey: KeyObject;
  readonly trackHtml?: TrackHtml;
  /** The module of the thread that assembles large messages (compose/open-assembly-thread.ts). */
  readonly assemblyThread: URL;
  /** The address at which an HTTP gateway posts the delivery receipt of an SMS. */
  readonly smsReceiptUrl: (message: ShortMessage) => string;
}

/** A started worker. `stop` is that of DeliveryWorker, and closes what the engine has opened. */
export type RunningWorker = Pick<DeliveryWorker, "workerId" | "stop"> & {
  /** What the process says about its lanes now. */
  readonly report: () => ProcessReport;
};

export async function startDeliveryWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { config, db, clock, log, check, findHalted, onMoved, onResult, onLook } = options;
  const receipts = config.SMS_GATEWAY_URL === null ? null : new DeliveryReceipts({ db, clock, log, onMoved });
  const assemblyThread = openAssemblyThread(options.assemblyThread);
  const composing: ComposeOptions = {
    findIdentity: cachedIdentities(options.findIdentity),
    returnPathKey: options.returnPathKey,
    complaintAddress: config.INBOUND_PORT === null ? null : `fbl@${config.BOUNCE_DOMAIN}`,
    ...(options.trackHtml && { trackHtml: options.trackHtml }),
    loadContent: contentLoader(db),
    assembleAside: (mail) => assemblyThread.assemble(mail),
  };
  const machines = await MachineAddresses.watch(db, log);
  const warmUps = new WarmUpQuotas({ db, clock, log });
  const worker = await DeliveryWorker.start({
    db,
    clock,
    log,
    journalFolder: join(config.DATA_DIR, JOURNALS),
    createTransport: (events) => chooseTransport({ ...options, machines, warmUps }, composing, events),
    createSmsTransport: receipts && ((events) => new SmsTransport(chooseGateway(options, receipts), events)),
    check,
    findHalted,
    onMoved,
    ...(onResult && { onResult }),
    ...(onLook && { onLook }),
  });
  return {
    workerId: worker.workerId,
    report: () => worker.report,
    async stop() {
      await worker.stop();
      await Promise.all([receipts?.stop(), machines.stop(), warmUps.close(), assemblyThread.close()]);
    },
  };
}

/** The gateway of SMS_GATEWAY_URL. */
function chooseGateway(
  { config, log, smsReceiptUrl }: WorkerOptions,
  receipts: DeliveryReceipts,
): SmsGateway {
  if (config.SMS_GATEWAY_URL === null) throw new Error("SMS_GATEWAY_URL is not set");
  const settings = readGateway(config.SMS_GATEWAY_URL);
  if (settings.kind === "http") return createHttpGateway(settings, smsReceiptUrl);
  return new SmppGateway(settings, log, (receipt) => receipts.take(receipt));
}

/** The transport of MAIL_MODE. */
function chooseTransport(
  options: WorkerOptions & { readonly machines: MachineAddresses; readonly warmUps: WarmUpQuotas },
  composing: ComposeOptions,
  events: TransportEvents,
): Transport {
  const { config, db, resolver } = options;
  if (config.MAIL_MODE === "capture") return new CaptureTransport(db, composing, events);
  const lanes = mergeLanes(config.LANES_FILE);
  const session = { ehloName: config.MAIL_HOSTNAME };
  const lane = laneFor([], lanes);
  const egress = new Egress({
    ...options,
    local: localNetworks,
    random: Math.random,
    routeToRelay: (host) =>
      routeToRelay(host, {
        resolver,
        lane,
        allowPrivate: config.ALLOW_PRIVATE_MX,
        setting: "the relay_url of the routing rule",
      }),
  });
  const decideEgress: DecideEgress = (message, route) => egress.decide(message, route);
  if (config.MAIL_MODE === "relay" && config.RELAY_URL) {
    const { host, ...relay } = readRelay(config.RELAY_URL);
    const findRoute = routeToRelay(host, { resolver, lane, allowPrivate: true, setting: "RELAY_URL" });
    return new SmtpTransport(
      { findRoute, decideEgress, session: { ...session, ...relay }, composing },
      events,
    );
  }
  const findRoute = directRoutes(options, lanes);
  return new SmtpTransport(
    { findRoute, decideEgress, session: { ...session, port: config.SMTP_PORT }, composing },
    events,
  );
}

/** Routes by MX, with the TLS demands of hosts and domains. */
function directRoutes({ config, db, clock, resolver }: WorkerOptions, lanes: readonly Lane[]): FindRoute {
  const { ALLOW_PRIVATE_MX: allowPrivate, MTA_STS, DANE_RESOLVER } = config;
  const policies = MTA_STS === "on" ? new StsPolicies({ db, clock, resolver, allowPrivate }) : null;
  const findPolicy = policies && ((domain: string) => policies.policyOf(domain));
  const validating = DANE_RESOLVER === null ? null : createValidatingResolver(DANE_RESOLVER);
  return routeByMx({ resolver: validating ?? resolver, allowPrivate, lanes, findPolicy, dane: validating });
}

function cachedIdentities(find: FindIdentity): FindIdentity {
  const identities = new AsyncCache<SenderIdentity>({ ms: IDENTITY_KEPT_MS, most: MOST_IDENTITIES });
  return (workspaceId, fromDomain) =>
    identities.get(`${workspaceId} ${fromDomain}`, () => find(workspaceId, fromDomain));
}
