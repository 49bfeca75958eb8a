/** Validates a routing rule from a request body, merged into the rule as it was. */

import { readPool } from "#identity/sending-ips/read-sending-ip.ts";
import { findSendingIp, listSendingIps } from "#identity/sending-ips/store.ts";
import { parseDomain } from "#mail/address.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { type ApiError, invalid } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";
import { readName } from "#workspace/read-display-name.ts";
import { isRedacted, openRelayUrl, readRelayUrl, redacted, sealRelayUrl } from "./relay-url.ts";
import type { RoutingRuleRow } from "./store.ts";

interface ActionInput {
  readonly source_ip_id?: string | null;
  readonly pool?: string | null;
  readonly relay_url?: string | null;
}

interface MatchInput {
  readonly recipient_domains?: readonly string[] | null;
  readonly providers?: readonly string[] | null;
}

/** Null counts as omitted. */
export interface RuleInput {
  readonly name?: string | null;
  readonly priority?: number | null;
  readonly match?: MatchInput | null;
  readonly action?: ActionInput | null;
  readonly is_active?: boolean | null;
  readonly is_automatic?: boolean | null;
}

export interface ReaderOptions {
  readonly tx: Queryable;
  readonly workspaceId: WorkspaceId;
  readonly secrets: Secrets;
  /** The names of the lanes. */
  readonly providers: readonly string[];
  /** Whether a relay may be in a private network. */
  readonly allowPrivate: boolean;
}

/** @throws ApiError VALIDATION_ERROR naming the field */
export async function readRule(
  options: ReaderOptions,
  body: RuleInput,
  before: RoutingRuleRow,
): Promise<RoutingRuleRow> {
  return {
    ...before,
    name: body.name == null ? before.name : readName(body.name),
    priority: body.priority ?? before.priority,
    is_active: body.is_active ?? before.is_active,
    is_automatic: body.is_automatic ?? before.is_automatic,
    ...(body.match && readMatch(body.match, options.providers)),
    ...(body.action && (await readAction(options, body.action, before))),
  };
}

function readMatch(
  { recipient_domains, providers }: MatchInput,
  known: readonly string[],
): Pick<RoutingRuleRow, "recipient_domains" | "providers"> {
  const domains = (recipient_domains ?? []).map((text, at) => {
    const parsed = parseDomain(text);
    if (!parsed.ok) throw refuse(`match.recipient_domains[${at}]`, parsed.message);
    return parsed.domain;
  });
  const unknown = (providers ?? []).findIndex((name) => !known.includes(name));
  if (unknown >= 0) throw refuse(`match.providers[${unknown}]`, `must be one of ${known.join(", ")}`);
  return { recipient_domains: [...new Set(domains)], providers: [...new Set(providers ?? [])] };
}

async function readAction(
  options: ReaderOptions,
  { source_ip_id, pool, relay_url }: ActionInput,
  before: RoutingRuleRow,
): Promise<Pick<RoutingRuleRow, "source_ip_id" | "pool" | "relay_url">> {
  const { tx, workspaceId } = options;
  const nothing = { source_ip_id: null, pool: null, relay_url: null };
  if ([source_ip_id, pool, relay_url].filter((value) => value != null).length !== 1) {
    throw refuse("action", "needs exactly one of source_ip_id, pool and relay_url");
  }
  if (source_ip_id != null) {
    if (!(await findSendingIp(tx, workspaceId, source_ip_id))) {
      throw refuse("action.source_ip_id", "is not a sending IP of this workspace");
    }
    return { ...nothing, source_ip_id };
  }
  if (pool != null) {
    const name = readPool(pool, "action.pool");
    const ips = await listSendingIps(tx, workspaceId);
    if (name === null || !ips.some((ip) => ip.pool === name)) {
      throw refuse("action.pool", "is not a pool of this workspace's sending IPs");
    }
    return { ...nothing, pool: name };
  }
  return { ...nothing, relay_url: readRelay(options, relay_url ?? "", before) };
}

/** The sealed URL. A URL sent back as it was shown keeps its password. */
function readRelay(
  { secrets, allowPrivate }: ReaderOptions,
  text: string,
  { id, relay_url: before }: RoutingRuleRow,
): Buffer {
  const read = readRelayUrl(text.trim(), { allowPrivate });
  if ("fault" in read) throw refuse("action.relay_url", read.fault);
  if (before !== null && redacted(openRelayUrl(secrets, id, before)) === read.url) return before;
  if (isRedacted(read.url)) {
    throw refuse(
      "action.relay_url",
      "has changed and contains *** as its password: send the password itself",
    );
  }
  return sealRelayUrl(secrets, id, read.url);
}

function refuse(field: string, message: string): ApiError {
  return invalid({ field, message: `${field}: ${message}` });
}
