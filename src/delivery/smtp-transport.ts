/**
 * Messages to lanes: each recipient domain's route is looked up, and each lane has traffic of its own for each way out
 * of this machine (egress.ts).
 */

import { ExpiringMap } from "#platform/cache.ts";
import { siteName } from "#smtp-client/mx.ts";
import type { ComposeOptions } from "./compose.ts";
import { LaneTraffic } from "./lanes/lane-scheduler.ts";
import { laneKey } from "./lanes/lanes.ts";
import type { SessionSettings } from "./lanes/openings.ts";
import { FIRST_SHARE } from "./lanes/throttle.ts";
import type { LeasedMessage } from "./message.ts";
import type { Attempt } from "./queue/delivery-result.ts";
import type { Priority } from "./queue/queue-store.ts";
import type { Destination, FindRoute } from "./routes/destination.ts";
import { type Departure, type Exit, type FindDeparture, usual } from "./routes/egress.ts";
import { UnansweredLookUps } from "./routes/unanswered.ts";
import type { Transport, TransportEvents } from "./transport.ts";

/** Lanes without traffic are forgotten when there are more than this. */
const MOST_LANES = 10_000;
/** Places whose lane is known; they are named in every lease of a full lane. */
const MOST_PLACES = 10_000;
/** For so long a campaign is left to the machines that have its source address. */
const FOREIGN_MS = 5_000;
const MOST_FOREIGN = 1_000;
/** When mail comes back whose domain is still being looked up for as much as it may hold, or could not be. */
const ROUTE_AGAIN_SECONDS = 5;

export function createSmtpTransport(
  options: {
    readonly findRoute: FindRoute;
    /** Asked about mail of workspaces that have a routing of their own. */
    readonly findDeparture?: FindDeparture;
    readonly session: SessionSettings;
    readonly composing: ComposeOptions;
  },
  dispatcher: TransportEvents,
): Transport {
  /** The ways out of messages that have one of their own. */
  const exits = new Map<LeasedMessage, Exit>();
  const events = heedingExits(exits, dispatcher);
  const lanes = new Map<string, LaneTraffic>();
  /** The lane that the mail of each place (placeOf) went to last. */
  const laneOfPlace = new Map<string, LaneTraffic>();
  /** How much mail for each place waits for its route. */
  const routing = new Map<string, number>();
  /** The messages that wait for their route. */
  const unrouted = new Set<LeasedMessage>();
  const unanswered = new UnansweredLookUps();
  let isClosed = false;
  const foreignCampaigns = new ExpiringMap<true>(MOST_FOREIGN);

  const trafficOf = ({ lane, hosts }: Destination, exit: Exit | null): LaneTraffic => {
    // What is demanded of the hosts' TLS divides sessions and not limits.
    const own = laneKey(lane, siteName(hosts.map(({ name }) => name)));
    const key = exit === null ? own : `${own} ${exit.key}`;
    const known = lanes.get(key);
    if (known) return known;
    if (lanes.size >= MOST_LANES) forgetIdle(lanes);
    const session = { ...options.session, ...exit?.session };
    const traffic = new LaneTraffic(lane, session, options.composing, events);
    lanes.set(key, traffic);
    return traffic;
  };

  const route = async (message: LeasedMessage) => {
    const departure = await departureOf(message);
    // The transport was closed meanwhile, and has given the message back.
    if (!unrouted.delete(message)) {
      if (departure.kind === "go") departure.exit?.allowance?.giveBack();
      return;
    }
    const exit = departure.kind === "go" ? departure.exit : null;
    if (exit !== null) exits.set(message, exit);
    const place = placeOf(message);
    if (departure.kind !== "ended" || !departure.result.isUnanswered) unanswered.forget(place);
    else if (unanswered.note(place)) return events.onPostponed(message, ROUTE_AGAIN_SECONDS);
    if (departure.kind === "ended") {
      return events.onAttempt({ message, result: departure.result, mxHost: null });
    }
    if (departure.kind === "wait") {
      const { foreignCampaign } = departure;
      if (foreignCampaign !== undefined) foreignCampaigns.set(foreignCampaign, true, FOREIGN_MS);
      return events.onHeldBack(message, departure.seconds, departure.sourceIp);
    }
    const { destination } = departure;
    const traffic = trafficOf(destination, exit);
    // The one whose mail came longest ago is the first, and the first to be forgotten.
    laneOfPlace.delete(place);
    const [oldest] = laneOfPlace.size >= MOST_PLACES ? laneOfPlace.keys() : [];
    if (oldest !== undefined) laneOfPlace.delete(oldest);
    laneOfPlace.set(place, traffic);
    traffic.add({ message, destination });
  };

  const departureOf = async (message: LeasedMessage): Promise<Departure> => {
    const found = await options.findRoute(message.domain);
    const { findDeparture } = options;
    return message.routing_version === null || !findDeparture ? usual(found) : findDeparture(message, found);
  };

  const countRouting = (place: string, more: 1 | -1) => {
    const count = (routing.get(place) ?? 0) + more;
    if (count === 0) routing.delete(place);
    else routing.set(place, count);
  };

  return {
    send(message) {
      if (isClosed) return events.onDropped(message);
      const place = placeOf(message);
      if ((routing.get(place) ?? 0) >= FIRST_SHARE) return events.onPostponed(message, ROUTE_AGAIN_SECONDS);
      countRouting(place, 1);
      unrouted.add(message);
      void route(message)
        .catch((cause: unknown) => {
          unrouted.delete(message);
          if (!isClosed) events.onPostponed(message, ROUTE_AGAIN_SECONDS, cause);
        })
        .finally(() => countRouting(place, -1));
    },
    saturatedDomains(priority: Priority = 1) {
      const saturated = new Set<string>();
      for (const [place, count] of routing) if (count >= FIRST_SHARE / 2) saturated.add(place);
      for (const [place, traffic] of laneOfPlace) {
        if (traffic.isSaturated(priority)) saturated.add(place);
        else if (traffic.load === 0) laneOfPlace.delete(place);
      }
      return [...saturated];
    },
    foreignCampaigns: () => [...foreignCampaigns.keys()],
    close() {
      isClosed = true;
      for (const message of unrouted) events.onDropped(message);
      unrouted.clear();
      for (const traffic of lanes.values()) traffic.close();
    },
  };
}

/** What leads to the same lane: a recipient domain, and for workspaces with a routing of their own that of theirs. */
function placeOf({ workspace_id, domain, routing_version }: LeasedMessage): string {
  return routing_version === null ? domain : `${workspace_id} ${domain}`;
}

/** Settles what was taken for a message's way out, whatever becomes of the message. */
function heedingExits(exits: Map<LeasedMessage, Exit>, events: TransportEvents): TransportEvents {
  const leave = (message: LeasedMessage) => {
    const exit = exits.get(message);
    exits.delete(message);
    return exit;
  };
  const giveBack = (message: LeasedMessage) => leave(message)?.allowance?.giveBack();
  const from = (exit: Exit | undefined, attempt: Attempt): Attempt =>
    exit === undefined ? attempt : { ...attempt, isSourceChosen: exit.sourceIp !== null };
  return {
    mayStart: (message) => events.mayStart(message),
    onAttempt(attempt) {
      const exit = leave(attempt.message);
      exit?.allowance?.settle(attempt.result);
      events.onAttempt(from(exit, attempt));
    },
    onTurnedAway(why, seconds) {
      const exit = leave(why.message);
      exit?.allowance?.giveBack();
      events.onTurnedAway(from(exit, why), seconds);
    },
    onPostponed(message, seconds, cause) {
      giveBack(message);
      events.onPostponed(message, seconds, cause);
    },
    onHeldBack: (message, seconds, sourceIp) => events.onHeldBack(message, seconds, sourceIp),
    onDropped(message) {
      giveBack(message);
      events.onDropped(message);
    },
    onFault(message, error) {
      giveBack(message);
      events.onFault(message, error);
    },
  };
}

function forgetIdle(lanes: Map<string, LaneTraffic>): void {
  for (const [key, traffic] of lanes) {
    if (!traffic.isForgettable) continue;
    traffic.close();
    lanes.delete(key);
  }
}
