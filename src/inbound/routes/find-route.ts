import { parseAddress } from "#mail/address.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { comparableAddress, matchesLocalPart } from "./address-pattern.ts";
import { listRoutesAtDomain, type RouteAtDomain } from "./store.ts";

/**
 * The route of a recipient. "foreign": no workspace has an active route at the domain. "postmaster": its postmaster, for whom
 * no route is (RFC 5321 section 4.5.1). Null: no other route matches.
 */
export async function findRoute(
  db: Queryable,
  address: string,
): Promise<RouteAtDomain | "foreign" | "postmaster" | null> {
  const parsed = parseAddress(address);
  if (!parsed.ok) return "foreign";
  const { local_part: local, domain } = comparableAddress(parsed.address);
  const routes = await listRoutesAtDomain(db, domain);
  if (routes.length === 0) return "foreign";
  const route = routes.find(({ local_part }) => matchesLocalPart(local_part, local));
  return route ?? (local === "postmaster" ? "postmaster" : null);
}
