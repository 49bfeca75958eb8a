/**
 * Which way a message leaves: from the machine's usual address, from sending IPs of its workspace, or through a smart
 * host. Pure: a workspace's rules in, the way out.
 */
import type { WorkspaceId } from "#platform/ids.ts";

export interface SendingIp {
  readonly id: string;
  readonly ip: string;
  /** EHLO name; null: the machine's. */
  readonly hostname: string | null;
  readonly pool: string | null;
  readonly is_active: boolean;
  /** Since when it is warmed up; null when it is not. */
  readonly warm_up_started_at: Date | null;
}

export type RuleAction =
  | { readonly source_ip_id: string }
  | { readonly pool: string }
  | { readonly relay_url: string };

export interface RoutingRule {
  readonly id: string;
  readonly name: string;
  readonly is_active: boolean;
  /** False: it applies only where it is named. */
  readonly is_automatic: boolean;
  /** Lower-case A-labels; empty: every domain. */
  readonly recipient_domains: readonly string[];
  /** Names of lanes; empty: every provider. */
  readonly providers: readonly string[];
  readonly action: RuleAction;
}

/** What a workspace has. */
export interface Routing {
  readonly ips: readonly SendingIp[];
  /** In the order in which they are asked. */
  readonly rules: readonly RoutingRule[];
}

/** What a campaign chose for itself; the address wins. Neither: the rules decide. */
export interface RouteChoice {
  readonly ip: string | null;
  readonly ruleId: string | null;
}

export type FindRouting = (workspaceId: WorkspaceId) => Promise<Routing>;
export type FindChoice = (workspaceId: WorkspaceId, campaignId: string) => Promise<RouteChoice>;

export type Way =
  | { readonly kind: "usual" }
  | { readonly kind: "relay"; readonly ruleId: string; readonly url: string }
  /** From any of these, which are not empty. */
  | { readonly kind: "ips"; readonly ips: readonly SendingIp[] }
  /** It was chosen, and cannot be gone now. */
  | { readonly kind: "closed"; readonly reason: string }
  /** It hangs on the provider, which DNS does not tell at the moment. */
  | { readonly kind: "unknown" };

/**
 * A campaign's own choice goes before the rules; one that is gone counts as none. Of the rules the first that matches
 * applies. What is switched off although it was chosen is waited for: mail must not leave from elsewhere. So is the
 * provider, where the first rule that may match has to know it.
 *
 * @param lane null where the domain has no mail hosts, and so no provider; undefined while DNS does not tell
 */
export function wayOf(
  { ips, rules }: Routing,
  choice: RouteChoice,
  { domain, lane }: { readonly domain: string; readonly lane: string | null | undefined },
): Way {
  const chosen = choice.ip === null ? undefined : ips.find(({ ip }) => ip === choice.ip);
  if (chosen) return fromIps([chosen], `the sending IP ${chosen.ip} is switched off`);
  const named = rules.find(({ id }) => id === choice.ruleId);
  const rule = named ?? rules.find((one) => one.is_automatic && one.is_active && mayMatch(one, domain, lane));
  if (rule === undefined) return { kind: "usual" };
  if (rule !== named && lane === undefined && rule.providers.length > 0) return { kind: "unknown" };
  if (!rule.is_active) return { kind: "closed", reason: `the routing rule "${rule.name}" is switched off` };
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

/** Where the lane is not known it may be any. */
function mayMatch(
  { recipient_domains, providers }: RoutingRule,
  domain: string,
  lane: string | null | undefined,
): boolean {
  const isDomain = recipient_domains.length === 0 || recipient_domains.includes(domain);
  if (!isDomain || providers.length === 0 || lane === undefined) return isDomain;
  return lane !== null && providers.includes(lane);
}

function fromIps(candidates: readonly SendingIp[], reason: string): Way {
  const ips = candidates.filter(({ is_active }) => is_active);
  return ips.length > 0 ? { kind: "ips", ips } : { kind: "closed", reason };
}
