/**
 * The delivery engine of one process (role `delivery`): a worker with the transports that the configuration names. It
 * keeps nothing that another process needs, and may be killed at any moment.
 */
import type { KeyObject } from "node:crypto";
import { join } from "node:path";
import type { Resolver } from "#dns/resolver.ts";
import { createValidatingResolver } from "#dns/validating.ts";
import type { Clock } from "#platform/clock.ts";
import type { Config } from "#platform/config/config.ts";
import type { Database } from "#platform/database/pool.ts";
import type { Log } from "#platform/log/log.ts";
import { localNetworks } from "#platform/network/local-networks.ts";
import { createCaptureTransport } from "./capture/transport.ts";
import type { TrackHtml } from "./compose/assemble.ts";
import { openAssemblyLine } from "./compose/assembly-line.ts";
import type { ComposeOptions, FindIdentity } from "./compose/compose.ts";
import { rememberIdentities } from "./identity-cache.ts";
import { type Lane, laneFor, mergeLanes } from "./lanes/lanes.ts";
import type { Transport, TransportEvents } from "./message/transport.ts";
import { contentLoader } from "./queue/content-store.ts";
import { type FindRoute, routeByMx, routeToRelay } from "./routes/destination.ts";
import { createDepartures } from "./routes/egress.ts";
import type { FindChoice, FindRouting } from "./routes/egress-rules.ts";
import { type OtherMachines, watchOtherMachines } from "./routes/other-machines.ts";
import { readRelay } from "./routes/relay.ts";
import { createStsPolicies } from "./routes/sts-policies.ts";
import type { ShortMessage, SmsGateway } from "./sms/gateway.ts";
import { readGateway } from "./sms/gateway-settings.ts";
import { createHttpGateway } from "./sms/http-gateway.ts";
import { openReceiptDesk, type ReceiptDesk } from "./sms/receipts.ts";
import { createSmppGateway } from "./sms/smpp-gateway.ts";
import { SmsTransport } from "./sms/sms-transport.ts";
import { SmtpTransport } from "./smtp-transport.ts";
import { WarmUpAllowances } from "./warm-up/allowances.ts";
import { DeliveryWorker, type DeliveryWorkerOptions } from "./worker/delivery-worker.ts";

/** Where a worker's journal lies, on each machine its own. */
const JOURNALS = "journals";

export interface WorkerOptions
  extends Pick<DeliveryWorkerOptions, "check" | "findHalted" | "onMoved" | "onResult" | "onLook"> {
  readonly config: Config;
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly resolver: Resolver;
  readonly findIdentity: FindIdentity;
  /** A workspace's sending IPs and routing rules, and what a campaign of its chose. */
  readonly findRouting: FindRouting;
  readonly findChoice: FindChoice;
  /** Keys the tokens of return paths. */
  readonly returnPathKey: KeyObject;
  readonly trackHtml?: TrackHtml;
  /** The thread in which large messages are assembled (assembly-line.ts). */
  readonly assemblyThread: URL;
  /** Where an HTTP gateway tells what became of an SMS. */
  readonly smsReceiptUrl: (message: ShortMessage) => string;
}

/** A worker that has been started. `stop` is that of DeliveryWorker, and closes what the engine opened. */
export type RunningWorker = Pick<DeliveryWorker, "workerId" | "stop">;

export async function startDeliveryWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { config, db, clock, log, check, findHalted, onMoved, onResult, onLook } = options;
  const desk = config.SMS_GATEWAY_URL === null ? null : openReceiptDesk({ db, clock, log, onMoved });
  const assemblyLine = openAssemblyLine(options.assemblyThread);
  const composing: ComposeOptions = {
    findIdentity: rememberIdentities(options.findIdentity),
    returnPathKey: options.returnPathKey,
    complaintAddress: config.INBOUND_PORT === null ? null : `fbl@${config.BOUNCE_DOMAIN}`,
    ...(options.trackHtml && { trackHtml: options.trackHtml }),
    loadContent: contentLoader(db),
    assembleAside: (mail) => assemblyLine.assemble(mail),
  };
  const others = await watchOtherMachines(db, log);
  const warmUps = new WarmUpAllowances({ db, clock, log });
  const worker = await DeliveryWorker.start({
    db,
    clock,
    log,
    journalFolder: join(config.DATA_DIR, JOURNALS),
    createTransport: (events) => chooseTransport({ ...options, others, warmUps }, composing, events),
    createSmsTransport: desk && ((events) => new SmsTransport(chooseGateway(options, desk), events)),
    check,
    findHalted,
    onMoved,
    ...(onResult && { onResult }),
    ...(onLook && { onLook }),
  });
  return {
    workerId: worker.workerId,
    async stop() {
      await worker.stop();
      await Promise.all([desk?.stop(), others.stop(), warmUps.close(), assemblyLine.close()]);
    },
  };
}

/** SMS_GATEWAY_URL decides what carries SMS. */
function chooseGateway({ config, log, smsReceiptUrl }: WorkerOptions, desk: ReceiptDesk): SmsGateway {
  if (config.SMS_GATEWAY_URL === null) throw new Error("there is no SMS_GATEWAY_URL");
  const settings = readGateway(config.SMS_GATEWAY_URL);
  if (settings.kind === "http") return createHttpGateway(settings, smsReceiptUrl);
  return createSmppGateway(settings, log, (receipt) => desk.take(receipt));
}

/** MAIL_MODE decides what carries the mail. */
function chooseTransport(
  options: WorkerOptions & { readonly others: OtherMachines; readonly warmUps: WarmUpAllowances },
  composing: ComposeOptions,
  events: TransportEvents,
): Transport {
  const { config, db, resolver } = options;
  if (config.MAIL_MODE === "capture") return createCaptureTransport(db, composing, events);
  const lanes = mergeLanes(config.LANES_FILE);
  const session = { ehloName: config.MAIL_HOSTNAME };
  const lane = laneFor([], lanes);
  const findDeparture = createDepartures({
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
  if (config.MAIL_MODE === "relay" && config.RELAY_URL) {
    const { host, ...relay } = readRelay(config.RELAY_URL);
    const findRoute = routeToRelay(host, { resolver, lane, allowPrivate: true, setting: "RELAY_URL" });
    return new SmtpTransport(
      { findRoute, findDeparture, session: { ...session, ...relay }, composing },
      events,
    );
  }
  const findRoute = directRoutes(options, lanes);
  return new SmtpTransport(
    { findRoute, findDeparture, session: { ...session, port: config.SMTP_PORT }, composing },
    events,
  );
}

/** To the hosts of each domain, under what they demand of TLS. */
function directRoutes({ config, db, clock, resolver }: WorkerOptions, lanes: readonly Lane[]): FindRoute {
  const { ALLOW_PRIVATE_MX: allowPrivate, MTA_STS, DANE_RESOLVER } = config;
  const findPolicy =
    MTA_STS === "on" ? createStsPolicies({ db, clock, resolver, allowPrivate }).policyOf : null;
  const validating = DANE_RESOLVER === null ? null : createValidatingResolver(DANE_RESOLVER);
  return routeByMx({ resolver: validating ?? resolver, allowPrivate, lanes, findPolicy, dane: validating });
}
