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
}

export function startDeliveryWorker(options: WorkerOptions): Promise<Dispatcher> {
  const { config, db, clock, log, examine, findHalted, onMoved, onConclusion } = options;
  const composing: ComposeOptions = {
    findIdentity: rememberIdentities(options.findIdentity),
    returnPathKey: options.returnPathKey,
  };
  return startDispatcher({
    db,
    clock,
    log,
    journalFolder: join(config.DATA_DIR, JOURNALS),
    createTransport: (events) => chooseTransport(options, composing, events),
    examine,
    findHalted,
    onMoved,
    ...(onConclusion && { onConclusion }),
  });
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
