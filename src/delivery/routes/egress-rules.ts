/**
 * Selects the egress of a message by its workspace's routing rules: the machine's default address, sending IPs of the
 * workspace, or a smart host. Pure functions.
 */
import type { WorkspaceId } from "#platform/ids.ts";

export interface SendingIp {
  readonly id: string;
  readonly ip: string;
  /** EHLO name; null for the machine's. */
  readonly hostname: string | null;
  readonly pool: string | null;
  readonly is_active: boolean;
  /** When its warm-up began; null when it is not warmed up. */
  readonly warm_up_started_at: Date | null;
}

export type EgressAction =
  | { readonly source_ip_id: string }
  | { readonly pool: string }
  | { readonly relay_url: string };

export interface RoutingRule {
  readonly id: string;
  readonly name: string;
  readonly is_active: boolean;
  /** False: the rule applies only to mail that names it. */
  readonly is_automatic: boolean;
  /** Lower-case A-labels; empty for every domain. */
  readonly recipient_domains: readonly string[];
  /** Names of lanes; empty for every provider. */
  readonly providers: readonly string[];
  readonly action: EgressAction;
}

/** The sending IPs and routing rules of a workspace. */
export interface Routing {
  readonly ips: readonly SendingIp[];
  /** In order: the first rule that matches applies. */
  readonly rules: readonly RoutingRule[];
}

/** The choice of a campaign or message. The address takes precedence; with neither, the rules decide. */
export interface RouteChoice {
  readonly ip: string | null;
  readonly ruleId: string | null;
}

export type FindRouting = (workspaceId: WorkspaceId) => Promise<Routing>;
export type FindChoice = (workspaceId: WorkspaceId, campaignId: string) => Promise<RouteChoice>;

export type EgressSelection =
  | { readonly kind: "default" }
  | { readonly kind: "relay"; readonly ruleId: string; readonly url: string }
  /** From any of these addresses; there is at least one. */
  | { readonly kind: "ips"; readonly ips: readonly SendingIp[] }
  /** The chosen address or rule is switched off. */
  | { readonly kind: "unavailable"; readonly reason: string }
  /** The selection depends on the provider, which a temporary DNS failure hides. */
  | { readonly kind: "provider_unknown" };

/**
 * The choice takes precedence over the rules; a choice that was deleted is ignored. The first rule that matches applies. If
 * the selected address or rule is switched off, the message waits, because it must not be sent from elsewhere. It also waits
 * while the provider is unknown, if the first rule that may match depends on it.
 *
 * @param lane null where the domain has no mail hosts, and so no provider; undefined while DNS fails temporarily
 */
export function selectEgress(
  { ips, rules }: Routing,
  choice: RouteChoice,
  { domain, lane }: { readonly domain: string; readonly lane: string | null | undefined },
): EgressSelection {
  const chosen = chosenIp(ips, choice);
  if (chosen) return fromIps([chosen], `the sending IP ${chosen.ip} is switched off`);
  const { rule, named } = ruleFor(rules, choice, { domain, lane });
  if (rule === undefined) return { kind: "default" };
  if (rule !== named && lane === undefined && rule.providers.length > 0) return { kind: "provider_unknown" };
  if (!rule.is_active)
    return { kind: "unavailable", reason: `the routing rule "${rule.name}" is switched off` };
  const { action } = rule;
  if ("relay_url" in action) return { kind: "relay", ruleId: rule.id, url: action.relay_url };
  if ("pool" in action) {
    return fromIps(
      ips.filter(({ pool }) => pool === action.pool),
      `no sending IP of the pool "${action.pool}" is switched on`,
    );
  }
  return fromIps(
    ips.filter(({ id }) => id === action.source_ip_id),
    `the sending IP of the routing rule "${rule.name}" is switched off`,
  );
}

/** The rule that applies to a message; undefined if none does, or the choice of an address takes precedence. */
export function appliedRule(
  { ips, rules }: Routing,
  choice: RouteChoice,
  recipient: Recipient,
): RoutingRule | undefined {
  return chosenIp(ips, choice) ? undefined : ruleFor(rules, choice, recipient).rule;
}

type Recipient = Parameters<typeof selectEgress>[2];

function chosenIp(ips: readonly SendingIp[], choice: RouteChoice): SendingIp | undefined {
  return choice.ip === null ? undefined : ips.find(({ ip }) => ip === choice.ip);
}

function ruleFor(rules: readonly RoutingRule[], choice: RouteChoice, { domain, lane }: Recipient) {
  const named = rules.find(({ id }) => id === choice.ruleId);
  const rule = named ?? rules.find((one) => one.is_automatic && one.is_active && mayMatch(one, domain, lane));
  return { rule, named };
}

/** An unknown lane may be any lane. */
function mayMatch(
  { recipient_domains, providers }: RoutingRule,
  domain: string,
  lane: string | null | undefined,
): boolean {
  const isDomain = recipient_domains.length === 0 || recipient_domains.includes(domain);
  if (!isDomain || providers.length === 0 || lane === undefined) return isDomain;
  return lane !== null && providers.includes(lane);
}

function fromIps(candidates: readonly SendingIp[], reason: string): EgressSelection {
  const ips = candidates.filter(({ is_active }) => is_active);
  return ips.length > 0 ? { kind: "ips", ips } : { kind: "unavailable", reason };
}
