/**
 * A delivery worker: the process (role `delivery`) that turns queue rows into SMTP conversations. It keeps nothing
 * that another process needs, and may be killed at any moment.
 */
import type { KeyObject } from "node:crypto";
import { join } from "node:path";
import type { Resolver } from "../mail/resolver.ts";
import type { Clock } from "../platform/clock.ts";
import type { Config } from "../platform/config.ts";
import type { Database } from "../platform/database/pool.ts";
import type { Log } from "../platform/log.ts";
import { createCaptureTransport } from "./capture-transport.ts";
import type { ComposeOptions, FindIdentity } from "./compose.ts";
import { type FindRoute, routeByMx, routeToRelay } from "./destination.ts";
import { type Dispatcher, type DispatcherOptions, startDispatcher } from "./dispatcher.ts";
import { rememberIdentities } from "./identity-cache.ts";
import { laneFor, mergeLanes } from "./lanes.ts";
import { readRelay } from "./relay.ts";
import type { ShortMessage, SmsGateway } from "./sms/gateway.ts";
import { readGateway } from "./sms/gateway-settings.ts";
import { createHttpGateway } from "./sms/http-gateway.ts";
import { openReceiptDesk, type ReceiptDesk } from "./sms/receipts.ts";
import { createSmppGateway } from "./sms/smpp-gateway.ts";
import { createSmsTransport } from "./sms/sms-transport.ts";
import { createSmtpTransport } from "./smtp-transport.ts";
import type { Transport, TransportEvents } from "./transport.ts";

/** Where a worker's journal lies, on each machine its own. */
const JOURNALS = "journals";

export interface WorkerOptions
  extends Pick<DispatcherOptions, "examine" | "findHalted" | "onMoved" | "onConclusion"> {
  readonly config: Config;
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly resolver: Resolver;
  readonly findIdentity: FindIdentity;
  /** Keys the tokens of return paths. */
  readonly returnPathKey: KeyObject;
  /** Where an HTTP gateway tells what became of an SMS. */
  readonly smsReceiptUrl: (message: ShortMessage) => string;
}

export async function startDeliveryWorker(options: WorkerOptions): Promise<Dispatcher> {
  const { config, db, clock, log, examine, findHalted, onMoved, onConclusion } = options;
  const desk = config.SMS_GATEWAY_URL === null ? null : openReceiptDesk({ db, clock, log, onMoved });
  const composing: ComposeOptions = {
    findIdentity: rememberIdentities(options.findIdentity),
    returnPathKey: options.returnPathKey,
  };
  const dispatcher = await startDispatcher({
    db,
    clock,
    log,
    journalFolder: join(config.DATA_DIR, JOURNALS),
    createTransport: (events) => chooseTransport(options, composing, events),
    createSmsTransport: desk && ((events) => createSmsTransport(chooseGateway(options, desk), events)),
    examine,
    findHalted,
    onMoved,
    ...(onConclusion && { onConclusion }),
  });
  return {
    workerId: dispatcher.workerId,
    async stop() {
      await dispatcher.stop();
      await desk?.stop();
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
  { config, db, resolver }: WorkerOptions,
  composing: ComposeOptions,
  events: TransportEvents,
): Transport {
  if (config.MAIL_MODE === "capture") return createCaptureTransport(db, composing, events);
  const lanes = mergeLanes(config.LANES_FILE);
  const session = { ehloName: config.MAIL_HOSTNAME };
  if (config.MAIL_MODE === "relay" && config.RELAY_URL) {
    const { host, ...relay } = readRelay(config.RELAY_URL);
    const findRoute = routeToRelay(host, laneFor([], lanes), resolver);
    return createSmtpTransport({ findRoute, session: { ...session, ...relay }, composing }, events);
  }
  const findRoute: FindRoute = routeByMx({ resolver, allowPrivate: config.ALLOW_PRIVATE_MX, lanes });
  return createSmtpTransport(
    { findRoute, session: { ...session, port: config.SMTP_PORT }, composing },
    events,
  );
}
