/** Messages to lanes: each recipient domain's route is looked up, and each lane has traffic of its own. */
import type { ComposeOptions } from "./compose.ts";
import type { FindRoute } from "./destination.ts";
import { LaneTraffic } from "./lane-traffic.ts";
import { type Lane, laneKey } from "./lanes.ts";
import type { SessionSettings } from "./sessions.ts";
import type { LeasedMessage } from "./store.ts";
import type { Transport, TransportEvents } from "./transport.ts";

/** Messages that may wait in one lane; a sick one must not fill the worker. */
const LANE_SHARE = 1_000;

/** Lanes without traffic are forgotten when there are more than this. */
const MOST_LANES = 10_000;

export function createSmtpTransport(
  options: { findRoute: FindRoute; session: Omit<SessionSettings, "requireTls">; composing: ComposeOptions },
  events: TransportEvents,
): Transport {
  const lanes = new Map<string, LaneTraffic>();
  /** The lane each domain's mail went to last. */
  const laneOfDomain = new Map<string, LaneTraffic>();
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
    const found = await options.findRoute(message.domain);
    if (isClosed) return events.onDropped(message);
    if ("outcome" in found) return events.onAttempt({ message, result: found, mxHost: null });
    const traffic = trafficOf(found.lane, found.site);
    laneOfDomain.set(message.domain, traffic);
    traffic.add({ message, destination: found });
  };

  return {
    send(message) {
      route(message).catch((error: unknown) => events.onFault(message, error));
    },
    saturatedDomains() {
      const saturated: string[] = [];
      for (const [domain, traffic] of laneOfDomain) {
        if (traffic.load >= LANE_SHARE) saturated.push(domain);
        else if (traffic.load === 0) laneOfDomain.delete(domain);
      }
      return saturated;
    },
    close() {
      isClosed = true;
      for (const traffic of lanes.values()) traffic.close();
    },
  };
}

function forgetIdle(lanes: Map<string, LaneTraffic>): void {
  for (const [key, traffic] of lanes) {
    if (traffic.load > 0) continue;
    traffic.close();
    lanes.delete(key);
  }
}
