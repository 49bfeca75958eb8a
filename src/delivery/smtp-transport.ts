/** Messages to lanes: each recipient domain's route is looked up, and each lane has traffic of its own. */
import type { ComposeOptions } from "./compose.ts";
import type { FindRoute } from "./destination.ts";
import { LANE_SHARE } from "./lane-pace.ts";
import { LaneTraffic } from "./lane-traffic.ts";
import { type Lane, laneKey } from "./lanes.ts";
import type { SessionSettings } from "./sessions.ts";
import type { LeasedMessage, Priority } from "./store.ts";
import type { Transport, TransportEvents } from "./transport.ts";

/** Lanes without traffic are forgotten when there are more than this. */
const MOST_LANES = 10_000;
/** Domains whose lane is known; they are named in every lease of a full lane. */
const MOST_DOMAINS = 10_000;
/** When mail comes back whose domain is still being looked up for as much as it may hold, or could not be. */
const ROUTE_AGAIN_SECONDS = 5;

export function createSmtpTransport(
  options: { findRoute: FindRoute; session: SessionSettings; composing: ComposeOptions },
  events: TransportEvents,
): Transport {
  const lanes = new Map<string, LaneTraffic>();
  /** The lane each domain's mail went to last. */
  const laneOfDomain = new Map<string, LaneTraffic>();
  /** How much mail of each domain waits for its route. */
  const routing = new Map<string, number>();
  let isClosed = false;

  const trafficOf = (lane: Lane, site: string): LaneTraffic => {
    const key = laneKey(lane, site);
    const known = lanes.get(key);
    if (known) return known;
    if (lanes.size >= MOST_LANES) forgetIdle(lanes);
    const traffic = new LaneTraffic(lane, options.session, options.composing, events);
    lanes.set(key, traffic);
    return traffic;
  };

  const route = async (message: LeasedMessage) => {
    const { domain } = message;
    const found = await options.findRoute(domain);
    if (isClosed) return events.onDropped(message);
    if ("outcome" in found) return events.onAttempt({ message, result: found, mxHost: null });
    const traffic = trafficOf(found.lane, found.site);
    const [oldest] = laneOfDomain.size >= MOST_DOMAINS ? laneOfDomain.keys() : [];
    if (oldest !== undefined) laneOfDomain.delete(oldest);
    laneOfDomain.set(domain, traffic);
    traffic.add({ message, destination: found });
  };

  const countRouting = (domain: string, more: 1 | -1) => {
    const count = (routing.get(domain) ?? 0) + more;
    if (count === 0) routing.delete(domain);
    else routing.set(domain, count);
  };

  return {
    send(message) {
      const { domain } = message;
      if ((routing.get(domain) ?? 0) >= LANE_SHARE) return events.onPostponed(message, ROUTE_AGAIN_SECONDS);
      countRouting(domain, 1);
      void route(message)
        .catch((cause: unknown) => events.onPostponed(message, ROUTE_AGAIN_SECONDS, cause))
        .finally(() => countRouting(domain, -1));
    },
    saturatedDomains(priority: Priority = 1) {
      const saturated = new Set<string>();
      for (const [domain, count] of routing) if (count >= LANE_SHARE / 2) saturated.add(domain);
      for (const [domain, traffic] of laneOfDomain) {
        if (traffic.isSaturated(priority)) saturated.add(domain);
        else if (traffic.load === 0) laneOfDomain.delete(domain);
      }
      return [...saturated];
    },
    close() {
      isClosed = true;
      for (const traffic of lanes.values()) traffic.close();
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
