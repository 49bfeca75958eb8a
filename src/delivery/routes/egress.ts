/**
 * The egress path of mail from workspaces with sending IPs or routing rules: its source address, EHLO name or smart host.
 * Mail of all other workspaces takes the default path and is not decided here.
 */

import type { Destination } from "#delivery/lanes/lanes-by-mx-host.ts";
import type { SessionSettings } from "#delivery/lanes/session-opener.ts";
import type { LeasedMessage } from "#delivery/message/message.ts";
import type { QuotaSlot, WarmUpQuotas } from "#delivery/warm-up/reserve-quota.ts";
import { untilTomorrow } from "#delivery/warm-up/schedule.ts";
import { AsyncCache } from "#platform/cache.ts";
import type { Clock } from "#platform/clock.ts";
import type { localNetworks } from "#platform/network/own-addresses.ts";
import { HOUR_MS } from "#platform/time-units.ts";
import type { Unroutable } from "#smtp-client/mx.ts";
import type { MachineAddresses } from "./announced-addresses.ts";
import {
  type EgressSelection,
  type FindChoice,
  type FindRouting,
  type RouteChoice,
  type Routing,
  type SendingIp,
  selectEgress,
} from "./egress-rules.ts";
import type { FindRoute, Route } from "./find-destination.ts";
import { readRelay } from "./relay-url.ts";

/** A version of a workspace's routing never changes, so it can be cached for long. */
const ROUTING_KEPT_MS = HOUR_MS;
const MOST_ROUTINGS = 1_000;
const CHOICE_KEPT_MS = 5_000;
const MOST_CHOICES = 10_000;
const MOST_RELAYS = 1_000;
/** The delay before an unavailable path is tried again. */
const UNAVAILABLE_SECONDS = 300;
/** Messages that wait for the next day's quota come back within the first quarter of an hour of that day. */
const MORNING_MS = 15 * 60_000;

/** One egress path. Connections are not shared between paths. */
export interface EgressPath {
  readonly key: string;
  readonly session: Partial<SessionSettings>;
  /** The chosen source address; null for a smart host. */
  readonly sourceIp: string | null;
  /** The message's part of the address's warm-up quota; null where the address is not warmed up. */
  readonly quotaSlot: QuotaSlot | null;
}

export type EgressDecision =
  /** `path` is null for the default path. */
  | { readonly kind: "send"; readonly destination: Destination; readonly path: EgressPath | null }
  | { readonly kind: "unroutable"; readonly result: Unroutable }
  /** Back to the queue without an attempt, to be leased where `sourceIp` is. */
  | {
      readonly kind: "requeue";
      readonly seconds: number;
      readonly sourceIp: string | null;
      /** Set when no mail of this campaign can be sent from this machine. */
      readonly foreignCampaign?: string;
    };

export interface EgressDeps {
  readonly clock: Clock;
  readonly findRouting: FindRouting;
  readonly findChoice: FindChoice;
  readonly warmUps: Pick<WarmUpQuotas, "take">;
  readonly local: typeof localNetworks;
  readonly machines: Pick<MachineAddresses, "have">;
  /** Routes to a smart host that a routing rule names. */
  readonly routeToRelay: (host: string) => FindRoute;
  readonly random: () => number;
}

/** Decides about one message, whose route by MX is known. */
export type DecideEgress = (message: LeasedMessage, route: Route) => Promise<EgressDecision>;

const NO_CHOICE: RouteChoice = { ip: null, ruleId: null };

export class Egress {
  readonly #deps: EgressDeps;
  /** By workspace and routing version. */
  readonly #routings = new AsyncCache<Routing>({ ms: ROUTING_KEPT_MS, most: MOST_ROUTINGS });
  /** By campaign. */
  readonly #choices = new AsyncCache<RouteChoice>({ ms: CHOICE_KEPT_MS, most: MOST_CHOICES });
  /** By host. */
  readonly #relays = new AsyncCache<FindRoute>({ ms: ROUTING_KEPT_MS, most: MOST_RELAYS });

  constructor(deps: EgressDeps) {
    this.#deps = deps;
  }

  async decide(message: LeasedMessage, route: Route): Promise<EgressDecision> {
    // Platform mail proves who owns an address: a workspace must not route it through a host of its own.
    if (message.source === "platform") return defaultEgress(route);
    const [routing, choice] = await Promise.all([this.#routingOf(message), this.#choiceOf(message)]);
    const selected = selectEgress(routing, choice, { domain: message.domain, lane: laneOf(route) });
    if (selected.kind === "relay") return this.#throughRelay(message, selected);
    // A relay that is switched off needs no mail hosts of the domain, so this comes before the result of their look-up.
    if (selected.kind === "unavailable") return this.#unavailable(message, selected.reason);
    // Where the provider is unknown, the default path reports the failed look-up and defers the message.
    if (selected.kind === "default" || selected.kind === "provider_unknown" || "outcome" in route) {
      return defaultEgress(route);
    }
    const isCampaigns = message.source === "campaign" && (choice.ip !== null || choice.ruleId !== null);
    return this.#fromOneOf(message, selected.ips, route, isCampaigns);
  }

  #routingOf({ workspace_id, routing_version }: LeasedMessage): Promise<Routing> {
    return this.#routings.get(`${workspace_id} ${routing_version}`, () =>
      this.#deps.findRouting(workspace_id),
    );
  }

  async #choiceOf({ workspace_id, source, origin_id, particulars }: LeasedMessage): Promise<RouteChoice> {
    if (particulars !== null) return { ip: particulars.sending_ip, ruleId: particulars.routing_rule_id };
    return source === "campaign" && origin_id !== null
      ? this.#choices.get(origin_id, () => this.#deps.findChoice(workspace_id, origin_id))
      : NO_CHOICE;
  }

  /** The reason is recorded once, as the first attempt; after that the message is requeued without an event. */
  #unavailable({ attempts }: LeasedMessage, reason: string): EgressDecision {
    if (attempts > 0) {
      const seconds = UNAVAILABLE_SECONDS * (1 + this.#deps.random() / 2);
      return { kind: "requeue", seconds, sourceIp: null };
    }
    return {
      kind: "unroutable",
      result: { outcome: "unroutable", status: "deferred", enhanced: "4.3.5", reason },
    };
  }

  async #throughRelay(
    message: LeasedMessage,
    { ruleId, url }: Extract<EgressSelection, { kind: "relay" }>,
  ): Promise<EgressDecision> {
    const { host, ...session } = readRelay(new URL(url));
    const findRoute = await this.#relays.get(host, async () => this.#deps.routeToRelay(host));
    const route = await findRoute(message.domain);
    if ("outcome" in route) return { kind: "unroutable", result: route };
    const key = `relay ${ruleId} ${message.routing_version}`;
    const path = { key, session, sourceIp: null, quotaSlot: null };
    return { kind: "send", destination: route, path };
  }

  /** Sends from an address of this machine, or requeues for the machine that has one or for the next day's quota. */
  async #fromOneOf(
    message: LeasedMessage,
    ips: readonly SendingIp[],
    destination: Destination,
    isCampaigns: boolean,
  ): Promise<EgressDecision> {
    const { local, warmUps, machines, clock, random } = this.#deps;
    const ordered = inOrder(message, ips);
    const here = ordered.filter(({ ip }) => local().has(ip));
    for (const source of here) {
      const { id: sendingIpId, warm_up_started_at: startedAt } = source;
      if (startedAt === null) return sendFrom(source, destination, null);
      const warmUp = {
        workspaceId: message.workspace_id,
        sendingIpId,
        lane: destination.lane.name,
        startedAt,
      };
      const quotaSlot = await warmUps.take(warmUp, message.priority);
      if (quotaSlot !== null) return sendFrom(source, destination, quotaSlot);
    }
    const [first] = here;
    const elsewhere = ordered.find(
      ({ ip, warm_up_started_at }) =>
        machines.have(ip) &&
        !here.some((one) => one.ip === ip) &&
        (first === undefined || warm_up_started_at === null),
    );
    if (elsewhere) {
      const isForeign = isCampaigns && first === undefined && message.origin_id !== null;
      const foreign = isForeign ? { foreignCampaign: message.origin_id } : {};
      return { kind: "requeue", seconds: 0, sourceIp: elsewhere.ip, ...foreign };
    }
    if (first === undefined) {
      return this.#unavailable(
        message,
        `no delivery machine has the sending IP ${ordered.map(({ ip }) => ip).join(" or ")}`,
      );
    }
    const ms = untilTomorrow(clock.now()) + random() * MORNING_MS;
    return { kind: "requeue", seconds: ms / 1_000, sourceIp: first.ip };
  }
}

/** The lane as `selectEgress` takes it: undefined only while a temporary failure hides it. */
export function laneOf(route: Route): string | null | undefined {
  const mayPass = "outcome" in route && route.status === "deferred";
  return route.lane?.name ?? (mayPass ? undefined : null);
}

/** For workspaces without sending IPs and routing rules. */
export function defaultEgress(route: Route): EgressDecision {
  return "outcome" in route
    ? { kind: "unroutable", result: route }
    : { kind: "send", destination: route, path: null };
}

function sendFrom(
  { ip, hostname }: SendingIp,
  destination: Destination,
  quotaSlot: QuotaSlot | null,
): EgressDecision {
  const session = { localAddress: ip, ...(hostname !== null && { ehloName: hostname }) };
  const path = { key: `${ip} ${hostname ?? ""}`, session, sourceIp: ip, quotaSlot };
  return { kind: "send", destination, path };
}

/**
 * First the address of the previous attempt, by which greylists recognize a retry. The others in an order that is random but
 * the same for each attempt (rendezvous hashing), which spreads mail evenly over a pool without counters.
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
