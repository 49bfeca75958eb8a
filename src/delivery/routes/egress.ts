/**
 * How the mail of workspaces with sending IPs or routing rules leaves: which address, which EHLO name, which smart
 * host. Everybody else's never comes here.
 */

import type { Destination } from "#delivery/lanes/lanes.ts";
import type { SessionSettings } from "#delivery/lanes/openings.ts";
import type { LeasedMessage } from "#delivery/message/message.ts";
import type { Allowance, WarmUpAllowances } from "#delivery/warm-up/allowances.ts";
import { untilTomorrow } from "#delivery/warm-up/warm-up.ts";
import { AsyncCache } from "#platform/cache.ts";
import type { Clock } from "#platform/clock.ts";
import type { localNetworks } from "#platform/network/local-networks.ts";
import type { Unroutable } from "#smtp-client/mx.ts";
import type { FindRoute, Route } from "./destination.ts";
import {
  type FindChoice,
  type FindRouting,
  type RouteChoice,
  type Routing,
  type SendingIp,
  type Way,
  wayOf,
} from "./egress-rules.ts";
import type { OtherMachines } from "./other-machines.ts";
import { readRelay } from "./relay.ts";

/** A version of a workspace's routing never changes, so it is kept for as long as there is room. */
const ROUTING_KEPT_MS = 3_600_000;
const MOST_ROUTINGS = 1_000;
const CHOICE_KEPT_MS = 5_000;
const MOST_CHOICES = 10_000;
const MOST_RELAYS = 1_000;
/** When a way that is closed is tried again. */
const CLOSED_SECONDS = 300;
/** What waits for tomorrow comes back within the first quarter of an hour. */
const MORNING_MS = 15 * 60_000;

/** What sets one way out apart from others; connections are not shared between them. */
export interface Exit {
  readonly key: string;
  readonly session: Partial<SessionSettings>;
  /** The source address that was chosen. */
  readonly sourceIp: string | null;
  readonly allowance: Allowance | null;
}

export type Departure =
  | { readonly kind: "go"; readonly destination: Destination; readonly exit: Exit | null }
  /** Nobody can be asked. */
  | { readonly kind: "ended"; readonly result: Unroutable }
  /** Back to the queue without an attempt; from `sourceIp` it is to leave. */
  | {
      readonly kind: "wait";
      readonly seconds: number;
      readonly sourceIp: string | null;
      /** Set where none of its campaign's mail can leave from this machine. */
      readonly foreignCampaign?: string;
    };

export interface DepartureDeps {
  readonly clock: Clock;
  readonly findRouting: FindRouting;
  readonly findChoice: FindChoice;
  readonly warmUps: Pick<WarmUpAllowances, "take">;
  readonly local: typeof localNetworks;
  readonly others: Pick<OtherMachines, "have">;
  /** The way to a smart host of a workspace's own. */
  readonly routeToRelay: (host: string) => FindRoute;
  readonly random: () => number;
}

/** The way of one message, whose usual route is known. */
export type FindDeparture = (message: LeasedMessage, route: Route) => Promise<Departure>;

const NO_CHOICE: RouteChoice = { ip: null, ruleId: null };

export function createDepartures(deps: DepartureDeps): FindDeparture {
  const routings = new AsyncCache<Routing>({ ms: ROUTING_KEPT_MS, most: MOST_ROUTINGS });
  const choices = new AsyncCache<RouteChoice>({ ms: CHOICE_KEPT_MS, most: MOST_CHOICES });
  const relays = new AsyncCache<FindRoute>({ ms: ROUTING_KEPT_MS, most: MOST_RELAYS });

  const choiceOf = ({ workspace_id, source, origin_id, particulars }: LeasedMessage) => {
    if (particulars !== null) return { ip: particulars.sending_ip, ruleId: particulars.routing_rule_id };
    return source === "campaign" && origin_id !== null
      ? choices.get(origin_id, () => deps.findChoice(workspace_id, origin_id))
      : NO_CHOICE;
  };

  /** It is said once why the message waits, which counts as its first attempt; then it waits in silence. */
  const closed = ({ attempts }: LeasedMessage, reason: string): Departure => {
    if (attempts > 0) {
      return { kind: "wait", seconds: CLOSED_SECONDS * (1 + deps.random() / 2), sourceIp: null };
    }
    return {
      kind: "ended",
      result: { outcome: "unroutable", status: "deferred", enhanced: "4.3.5", reason },
    };
  };

  const throughRelay = async (
    message: LeasedMessage,
    { ruleId, url }: Extract<Way, { kind: "relay" }>,
  ): Promise<Departure> => {
    const { host, ...session } = readRelay(new URL(url));
    const findRoute = await relays.get(host, async () => deps.routeToRelay(host));
    const route = await findRoute(message.domain);
    if ("outcome" in route) return { kind: "ended", result: route };
    const key = `relay ${ruleId} ${message.routing_version}`;
    const exit = { key, session, sourceIp: null, allowance: null };
    return { kind: "go", destination: route, exit };
  };

  const fromOneOf = async (
    message: LeasedMessage,
    ips: readonly SendingIp[],
    destination: Destination,
    isCampaigns: boolean,
  ): Promise<Departure> => {
    const ordered = inOrder(message, ips);
    const here = ordered.filter(({ ip }) => deps.local().has(ip));
    for (const source of here) {
      const { id: sendingIpId, warm_up_started_at: startedAt } = source;
      if (startedAt === null) return departFrom(source, destination, null);
      const plan = { workspaceId: message.workspace_id, sendingIpId, lane: destination.lane.name, startedAt };
      const allowance = await deps.warmUps.take(plan, message.priority);
      if (allowance !== null) return departFrom(source, destination, allowance);
    }
    const [first] = here;
    const elsewhere = ordered.find(
      ({ ip, warm_up_started_at }) =>
        deps.others.have(ip) &&
        !here.some((one) => one.ip === ip) &&
        (first === undefined || warm_up_started_at === null),
    );
    if (elsewhere) {
      const isForeign = isCampaigns && first === undefined && message.origin_id !== null;
      const foreign = isForeign ? { foreignCampaign: message.origin_id } : {};
      return { kind: "wait", seconds: 0, sourceIp: elsewhere.ip, ...foreign };
    }
    if (first === undefined) {
      return closed(
        message,
        `no delivery machine has the sending IP ${ordered.map(({ ip }) => ip).join(" or ")}`,
      );
    }
    const ms = untilTomorrow(deps.clock.now()) + deps.random() * MORNING_MS;
    return { kind: "wait", seconds: ms / 1_000, sourceIp: first.ip };
  };

  return async (message, route) => {
    // The service's own mail proves who has an address: no workspace may lead it through a host of its own.
    if (message.source === "platform") return usual(route);
    const [routing, choice] = await Promise.all([
      routings.get(`${message.workspace_id} ${message.routing_version}`, () =>
        deps.findRouting(message.workspace_id),
      ),
      choiceOf(message),
    ]);
    const way = wayOf(routing, choice, { domain: message.domain, lane: laneOf(route) });
    if (way.kind === "relay") return throughRelay(message, way);
    // Where the provider is unknown the usual way tells why, and that it is waited for.
    if (way.kind === "usual" || way.kind === "unknown" || "outcome" in route) return usual(route);
    if (way.kind === "closed") return closed(message, way.reason);
    const isCampaigns = message.source === "campaign" && (choice.ip !== null || choice.ruleId !== null);
    return fromOneOf(message, way.ips, route, isCampaigns);
  };
}

/** As `wayOf` wants it: only a fault that passes leaves the lane open. */
function laneOf(route: Route): string | null | undefined {
  const isOpen = "outcome" in route && route.status === "deferred";
  return route.lane?.name ?? (isOpen ? undefined : null);
}

/** As the mail of everybody leaves who has no routing of his own. */
export function usual(route: Route): Departure {
  return "outcome" in route
    ? { kind: "ended", result: route }
    : { kind: "go", destination: route, exit: null };
}

function departFrom(
  { ip, hostname }: SendingIp,
  destination: Destination,
  allowance: Allowance | null,
): Departure {
  const session = { localAddress: ip, ...(hostname !== null && { ehloName: hostname }) };
  return {
    kind: "go",
    destination,
    exit: { key: `${ip} ${hostname ?? ""}`, session, sourceIp: ip, allowance },
  };
}

/**
 * First the address that was tried before: greylists know a retry by it. Then by chance, but the same chance each time
 * (rendezvous hashing), so that a pool is used evenly without anybody keeping count.
 */
function inOrder({ message_id, source_ip }: LeasedMessage, ips: readonly SendingIp[]): SendingIp[] {
  const rank = ({ ip }: SendingIp) => (ip === source_ip ? -1 : hash(`${ip} ${message_id}`));
  return ips.length === 1 ? [...ips] : ips.toSorted((a, b) => rank(a) - rank(b));
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 0;
}
