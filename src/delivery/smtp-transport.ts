/**
 * SMTP: looks up the route of each message and hands the message to the lane of its destination. Each lane has a
 * scheduler for each egress path (egress.ts) of this machine.
 */
import { ExpiringMap } from "#platform/cache.ts";
import { siteName } from "#smtp-client/mx.ts";
import type { ComposeOptions } from "./compose/compose-leased-message.ts";
import { LaneScheduler } from "./lanes/lane-scheduler.ts";
import { type Destination, laneKey } from "./lanes/lanes-by-mx-host.ts";
import type { SessionSettings } from "./lanes/session-opener.ts";
import { FIRST_SHARE } from "./lanes/throttle.ts";
import type { Ending, SmtpAttempt } from "./message/attempt.ts";
import type { WaitingLane } from "./message/lane-wait.ts";
import type { LeasedMessage, Priority, ReadyMessage } from "./message/message.ts";
import type { Transport, TransportEvents } from "./message/transport.ts";
import { type DecideEgress, defaultEgress, type EgressDecision, type EgressPath } from "./routes/egress.ts";
import type { FindRoute } from "./routes/find-destination.ts";
import { UnansweredLookUps } from "./routes/unanswered-lookups.ts";

/** Idle lanes are removed when there are more than this. */
const MOST_LANES = 10_000;
/** Destinations whose lane is remembered; those of saturated lanes are named in every lease. */
const MOST_DESTINATIONS = 10_000;
/** How long a campaign is left to the machines that have its source address. */
const FOREIGN_MS = 5_000;
const MOST_FOREIGN = 1_000;
/**
 * The delay before a message is tried again after a failed look-up, or because too many messages of its domain wait for
 * one.
 */
const ROUTE_AGAIN_SECONDS = 5;

export interface SmtpTransportOptions {
  readonly findRoute: FindRoute;
  /** Called for mail of workspaces that have sending IPs or routing rules. */
  readonly decideEgress?: DecideEgress;
  readonly session: SessionSettings;
  readonly composing: ComposeOptions;
}

export class SmtpTransport implements Transport {
  readonly #options: SmtpTransportOptions;
  readonly #events: TransportEvents;
  /** The egress paths of messages that do not take the default path, until the message ends. */
  readonly #paths = new Map<LeasedMessage, EgressPath>();
  readonly #lanes = new Map<string, LaneScheduler>();
  /** The lane that the mail of each destination (destinationKey) went to last, the most recently used last. */
  readonly #laneOfDestination = new Map<string, LaneScheduler>();
  /** How many messages of each destination wait for their route. */
  readonly #routing = new Map<string, number>();
  /** Messages that wait for their route. */
  readonly #unrouted = new Set<ReadyMessage>();
  readonly #unanswered = new UnansweredLookUps();
  readonly #foreignCampaigns = new ExpiringMap<true>(MOST_FOREIGN);
  #isClosed = false;

  constructor(options: SmtpTransportOptions, worker: TransportEvents) {
    this.#options = options;
    this.#events = {
      mayStart: (message) => worker.mayStart(message),
      onEnd: (message, ending) => worker.onEnd(message, this.#withPath(message, ending)),
    };
  }

  send(message: ReadyMessage): void {
    const key = destinationKey(message);
    if (this.#isClosed) this.#end(message, { kind: "release" });
    else if ((this.#routing.get(key) ?? 0) >= FIRST_SHARE) this.#requeue(message);
    else this.#beginRouting(message, key);
  }

  #beginRouting(message: ReadyMessage, key: string): void {
    this.#countRouting(key, 1);
    this.#unrouted.add(message);
    void this.#route(message)
      .catch((cause: unknown) => {
        this.#unrouted.delete(message);
        if (!this.#isClosed) this.#requeue(message, cause);
      })
      .finally(() => this.#countRouting(key, -1));
  }

  saturatedDomains(priority: Priority = 1): string[] {
    const saturated = new Set<string>();
    for (const [key, count] of this.#routing) if (count >= FIRST_SHARE / 2) saturated.add(key);
    for (const [key, scheduler] of this.#laneOfDestination) {
      if (scheduler.isSaturated(priority)) saturated.add(key);
      else if (scheduler.load === 0) this.#laneOfDestination.delete(key);
    }
    return [...saturated];
  }

  foreignCampaigns(): string[] {
    return [...this.#foreignCampaigns.keys()];
  }

  waitingLanes(): WaitingLane[] {
    return [...this.#lanes].flatMap(([key, { lane, waits }]) =>
      waits.map((wait) => ({ ...wait, provider: lane, place: key.slice(lane.length).trim() })),
    );
  }

  pausedLanes(): Record<string, number> {
    const counts = new Map<string, number>();
    for (const { lane, pausedCount } of this.#lanes.values()) {
      if (pausedCount > 0) counts.set(lane, (counts.get(lane) ?? 0) + pausedCount);
    }
    return Object.fromEntries(counts);
  }

  close(): void {
    this.#isClosed = true;
    for (const message of this.#unrouted) this.#end(message, { kind: "release" });
    this.#unrouted.clear();
    for (const scheduler of this.#lanes.values()) scheduler.close();
  }

  async #route(message: ReadyMessage): Promise<void> {
    const egress = await this.#egressOf(message);
    // The transport was closed during the look-up, and has released the message.
    if (!this.#unrouted.delete(message)) {
      if (egress.kind === "send") egress.path?.quotaSlot?.giveBack();
      return;
    }
    const key = destinationKey(message);
    if (egress.kind !== "unroutable" || !egress.result.isUnanswered) this.#unanswered.forget(key);
    else if (this.#unanswered.note(key)) return this.#requeue(message);
    switch (egress.kind) {
      case "unroutable":
        return this.#end(message, {
          kind: "attempted",
          attempt: { result: egress.result, mxHost: null },
        });
      case "requeue": {
        const { foreignCampaign, seconds, sourceIp } = egress;
        if (foreignCampaign !== undefined) this.#foreignCampaigns.set(foreignCampaign, true, FOREIGN_MS);
        return this.#end(message, { kind: "hold", seconds, sourceIp });
      }
      case "send":
        return this.#schedule(message, key, egress);
    }
  }

  #schedule(
    message: ReadyMessage,
    key: string,
    { destination, path }: Extract<EgressDecision, { kind: "send" }>,
  ): void {
    if (path !== null) this.#paths.set(message, path);
    const scheduler = this.#schedulerOf(destination, path);
    this.#laneOfDestination.delete(key);
    const [oldest] = this.#laneOfDestination.size >= MOST_DESTINATIONS ? this.#laneOfDestination.keys() : [];
    if (oldest !== undefined) this.#laneOfDestination.delete(oldest);
    this.#laneOfDestination.set(key, scheduler);
    scheduler.add({ message, destination });
  }

  async #egressOf(message: ReadyMessage): Promise<EgressDecision> {
    const { findRoute, decideEgress } = this.#options;
    const route = await findRoute(message.domain);
    return message.routing_version === null || !decideEgress
      ? defaultEgress(route)
      : decideEgress(message, route);
  }

  #schedulerOf({ lane, hosts }: Destination, path: EgressPath | null): LaneScheduler {
    // Omits the TLS demands of the hosts: sessions with different demands are separate, but share the limits of the
    // lane.
    const own = laneKey(lane, siteName(hosts.map(({ name }) => name)));
    const key = path === null ? own : `${own} ${path.key}`;
    const known = this.#lanes.get(key);
    if (known) return known;
    if (this.#lanes.size >= MOST_LANES) this.#forgetIdleLanes();
    const session = { ...this.#options.session, ...path?.session };
    const scheduler = new LaneScheduler(lane, session, this.#options.composing, this.#events);
    this.#lanes.set(key, scheduler);
    return scheduler;
  }

  #forgetIdleLanes(): void {
    for (const [key, scheduler] of this.#lanes) {
      if (!scheduler.isForgettable) continue;
      scheduler.close();
      this.#lanes.delete(key);
    }
  }

  #countRouting(key: string, change: 1 | -1): void {
    const count = (this.#routing.get(key) ?? 0) + change;
    if (count === 0) this.#routing.delete(key);
    else this.#routing.set(key, count);
  }

  #requeue(message: LeasedMessage, cause?: unknown): void {
    this.#end(message, { kind: "requeue", seconds: ROUTE_AGAIN_SECONDS, cause });
  }

  #end(message: LeasedMessage, ending: Ending): void {
    this.#events.onEnd(message, ending);
  }

  /** Settles the quota slot that the message took, however it ends, and adds the source address to the attempt. */
  #withPath(message: LeasedMessage, ending: Ending): Ending {
    const path = this.#paths.get(message);
    this.#paths.delete(message);
    if (ending.kind === "attempted" && "mxHost" in ending.attempt) {
      path?.quotaSlot?.settle(ending.attempt.result);
      return { ...ending, attempt: withSource(path, ending.attempt) };
    }
    path?.quotaSlot?.giveBack();
    if (ending.kind === "backoff" && "mxHost" in ending.attempt) {
      return { ...ending, attempt: withSource(path, ending.attempt) };
    }
    return ending;
  }
}

/**
 * Mail with the same key goes to the same lane: the recipient domain, with the workspace where that has sending IPs or
 * routing rules. lease-store.ts makes the same keys.
 */
function destinationKey({ workspace_id, domain, routing_version }: LeasedMessage): string {
  return routing_version === null ? domain : `${workspace_id} ${domain}`;
}

function withSource(path: EgressPath | undefined, attempt: SmtpAttempt): SmtpAttempt {
  return path === undefined ? attempt : { ...attempt, isSourceChosen: path.sourceIp !== null };
}
