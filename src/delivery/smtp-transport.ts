/**
 * SMTP: looks up the route of each message and hands the message to the lane of its destination. Each lane has a
 * scheduler for each egress path (egress.ts) of this machine.
 */
import { ExpiringMap } from "#platform/cache.ts";
import { siteName } from "#smtp-client/mx.ts";
import type { ComposeOptions } from "./compose/compose.ts";
import { LaneTraffic } from "./lanes/lane-scheduler.ts";
import { type Destination, laneKey } from "./lanes/lanes.ts";
import type { SessionSettings } from "./lanes/openings.ts";
import { FIRST_SHARE } from "./lanes/throttle.ts";
import type { Ending, SmtpAttempt } from "./message/attempt.ts";
import type { LeasedMessage, Priority, ReadyMessage } from "./message/message.ts";
import type { Transport, TransportEvents } from "./message/transport.ts";
import type { FindRoute } from "./routes/destination.ts";
import { type Departure, type Exit, type FindDeparture, usual } from "./routes/egress.ts";
import { UnansweredLookUps } from "./routes/unanswered.ts";

/** Lanes without traffic are forgotten when there are more than this. */
const MOST_LANES = 10_000;
/** Places whose lane is known; they are named in every lease of a full lane. */
const MOST_PLACES = 10_000;
/** For so long a campaign is left to the machines that have its source address. */
const FOREIGN_MS = 5_000;
const MOST_FOREIGN = 1_000;
/** When mail comes back whose domain is still being looked up for as much as it may hold, or could not be. */
const ROUTE_AGAIN_SECONDS = 5;

export interface SmtpTransportOptions {
  readonly findRoute: FindRoute;
  /** Asked for mail of workspaces that have sending IPs or routing rules. */
  readonly findDeparture?: FindDeparture;
  readonly session: SessionSettings;
  readonly composing: ComposeOptions;
}

export class SmtpTransport implements Transport {
  readonly #options: SmtpTransportOptions;
  readonly #events: TransportEvents;
  /** Egress paths of messages that have one of their own, until the message ends. */
  readonly #exits = new Map<LeasedMessage, Exit>();
  readonly #lanes = new Map<string, LaneTraffic>();
  /** The lane that the mail of each place (placeOf) went to last, the most recently used last. */
  readonly #laneOfPlace = new Map<string, LaneTraffic>();
  /** How many messages for each place wait for their route. */
  readonly #routing = new Map<string, number>();
  /** The messages that wait for their route. */
  readonly #unrouted = new Set<ReadyMessage>();
  readonly #unanswered = new UnansweredLookUps();
  readonly #foreignCampaigns = new ExpiringMap<true>(MOST_FOREIGN);
  #isClosed = false;

  constructor(options: SmtpTransportOptions, worker: TransportEvents) {
    this.#options = options;
    this.#events = {
      mayStart: (message) => worker.mayStart(message),
      onEnd: (message, ending) => worker.onEnd(message, this.#withExit(message, ending)),
    };
  }

  send(message: ReadyMessage): void {
    const place = placeOf(message);
    if (this.#isClosed) this.#end(message, { kind: "release" });
    else if ((this.#routing.get(place) ?? 0) >= FIRST_SHARE) this.#requeue(message);
    else this.#beginRouting(message, place);
  }

  #beginRouting(message: ReadyMessage, place: string): void {
    this.#countRouting(place, 1);
    this.#unrouted.add(message);
    void this.#route(message)
      .catch((cause: unknown) => {
        this.#unrouted.delete(message);
        if (!this.#isClosed) this.#requeue(message, cause);
      })
      .finally(() => this.#countRouting(place, -1));
  }

  saturatedDomains(priority: Priority = 1): string[] {
    const saturated = new Set<string>();
    for (const [place, count] of this.#routing) if (count >= FIRST_SHARE / 2) saturated.add(place);
    for (const [place, traffic] of this.#laneOfPlace) {
      if (traffic.isSaturated(priority)) saturated.add(place);
      else if (traffic.load === 0) this.#laneOfPlace.delete(place);
    }
    return [...saturated];
  }

  foreignCampaigns(): string[] {
    return [...this.#foreignCampaigns.keys()];
  }

  close(): void {
    this.#isClosed = true;
    for (const message of this.#unrouted) this.#end(message, { kind: "release" });
    this.#unrouted.clear();
    for (const traffic of this.#lanes.values()) traffic.close();
  }

  async #route(message: ReadyMessage): Promise<void> {
    const departure = await this.#departureOf(message);
    // The transport was closed meanwhile, and has given the message back.
    if (!this.#unrouted.delete(message)) {
      if (departure.kind === "go") departure.exit?.allowance?.giveBack();
      return;
    }
    const exit = departure.kind === "go" ? departure.exit : null;
    if (exit !== null) this.#exits.set(message, exit);
    const place = placeOf(message);
    if (departure.kind !== "ended" || !departure.result.isUnanswered) this.#unanswered.forget(place);
    else if (this.#unanswered.note(place)) return this.#requeue(message);
    if (departure.kind === "ended") {
      const attempt = { result: departure.result, mxHost: null };
      return this.#end(message, { kind: "attempted", attempt });
    }
    if (departure.kind === "wait") {
      const { foreignCampaign, seconds, sourceIp } = departure;
      if (foreignCampaign !== undefined) this.#foreignCampaigns.set(foreignCampaign, true, FOREIGN_MS);
      return this.#end(message, { kind: "hold", seconds, sourceIp });
    }
    const { destination } = departure;
    const traffic = this.#trafficOf(destination, exit);
    this.#laneOfPlace.delete(place);
    const [oldest] = this.#laneOfPlace.size >= MOST_PLACES ? this.#laneOfPlace.keys() : [];
    if (oldest !== undefined) this.#laneOfPlace.delete(oldest);
    this.#laneOfPlace.set(place, traffic);
    traffic.add({ message, destination });
  }

  async #departureOf(message: ReadyMessage): Promise<Departure> {
    const { findRoute, findDeparture } = this.#options;
    const found = await findRoute(message.domain);
    return message.routing_version === null || !findDeparture ? usual(found) : findDeparture(message, found);
  }

  #trafficOf({ lane, hosts }: Destination, exit: Exit | null): LaneTraffic {
    // What is demanded of the hosts' TLS divides sessions and not limits.
    const own = laneKey(lane, siteName(hosts.map(({ name }) => name)));
    const key = exit === null ? own : `${own} ${exit.key}`;
    const known = this.#lanes.get(key);
    if (known) return known;
    if (this.#lanes.size >= MOST_LANES) this.#forgetIdleLanes();
    const session = { ...this.#options.session, ...exit?.session };
    const traffic = new LaneTraffic(lane, session, this.#options.composing, this.#events);
    this.#lanes.set(key, traffic);
    return traffic;
  }

  #forgetIdleLanes(): void {
    for (const [key, traffic] of this.#lanes) {
      if (!traffic.isForgettable) continue;
      traffic.close();
      this.#lanes.delete(key);
    }
  }

  #countRouting(place: string, more: 1 | -1): void {
    const count = (this.#routing.get(place) ?? 0) + more;
    if (count === 0) this.#routing.delete(place);
    else this.#routing.set(place, count);
  }

  #requeue(message: LeasedMessage, cause?: unknown): void {
    this.#end(message, { kind: "requeue", seconds: ROUTE_AGAIN_SECONDS, cause });
  }

  #end(message: LeasedMessage, ending: Ending): void {
    this.#events.onEnd(message, ending);
  }

  /** Settles the quota that the message took of its egress path, however it ends, and notes the path's source address. */
  #withExit(message: LeasedMessage, ending: Ending): Ending {
    const exit = this.#exits.get(message);
    this.#exits.delete(message);
    if (ending.kind === "attempted" && "mxHost" in ending.attempt) {
      exit?.allowance?.settle(ending.attempt.result);
      return { ...ending, attempt: from(exit, ending.attempt) };
    }
    exit?.allowance?.giveBack();
    if (ending.kind === "backoff" && "mxHost" in ending.attempt) {
      return { ...ending, attempt: from(exit, ending.attempt) };
    }
    return ending;
  }
}

/** What leads to the same lane: a recipient domain, with the workspace where that has a routing of its own. */
function placeOf({ workspace_id, domain, routing_version }: LeasedMessage): string {
  return routing_version === null ? domain : `${workspace_id} ${domain}`;
}

function from(exit: Exit | undefined, attempt: SmtpAttempt): SmtpAttempt {
  return exit === undefined ? attempt : { ...attempt, isSourceChosen: exit.sourceIp !== null };
}
