/** How a message would leave, decided by the code that sends, without sending it. */
import { defaultLane } from "#delivery/lanes/default-lanes.ts";
import { mergeLanes } from "#delivery/lanes/lanes-by-mx-host.ts";
import type { Resolver } from "#dns/resolver-interface.ts";
import type { Config } from "#platform/config/config.ts";
import { laneOf } from "./egress.ts";
import {
  appliedRule,
  type EgressSelection,
  type RouteChoice,
  type Routing,
  selectEgress,
} from "./egress-rules.ts";
import { type FindRoute, routeByMx } from "./find-destination.ts";

export interface EgressPreview {
  /** Name of the lane of the domain's mail hosts; null if it has none, or if the DNS does not name them now. */
  readonly provider: string | null;
  /** The mail hosts by preference; empty if there are none, or if all mail goes to the operator's smart host. */
  readonly mailHosts: readonly string[];
  /** Why no mail host can be reached; null if one can. A relay of a rule needs none. */
  readonly fault: string | null;
  readonly ruleId: string | null;
  readonly selection: EgressSelection;
}

export type PreviewEgress = (routing: Routing, choice: RouteChoice, domain: string) => Promise<EgressPreview>;

/** In relay mode all mail is in the lane `default`, so no domain is looked up. */
export function createEgressPreview({
  config,
  resolver,
}: {
  readonly config: Pick<Config, "MAIL_MODE" | "LANES_FILE" | "ALLOW_PRIVATE_MX">;
  readonly resolver: Pick<Resolver, "mx" | "ipv4" | "ipv6">;
}): PreviewEgress {
  const lanes = mergeLanes(config.LANES_FILE);
  const atSmartHost = {
    site: "",
    lane: lanes.find(({ name }) => name === defaultLane.name) ?? defaultLane,
    hosts: [],
  };
  const findRoute: FindRoute =
    config.MAIL_MODE === "relay"
      ? async () => atSmartHost
      : routeByMx({ resolver, allowPrivate: config.ALLOW_PRIVATE_MX, lanes });
  return async (routing, choice, domain) => {
    const route = await findRoute(domain);
    const recipient = { domain, lane: laneOf(route) };
    return {
      provider: recipient.lane ?? null,
      mailHosts: "outcome" in route ? [] : route.hosts.map(({ name }) => name),
      fault: "outcome" in route ? route.reason : null,
      ruleId: appliedRule(routing, choice, recipient)?.id ?? null,
      selection: selectEgress(routing, choice, recipient),
    };
  };
}
