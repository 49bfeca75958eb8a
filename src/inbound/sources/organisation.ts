/**
 * The organisation behind a host that sends mail: a well-known one by its domains (organisations.json), otherwise the
 * registered domain of the host.
 */
import { organisationalDomain } from "#mail/dns/dmarc-policy.ts";
import organisations from "./organisations.json" with { type: "json" };

const nameOfDomain = new Map(
  organisations.flatMap(({ name, domains }) => domains.map((domain) => [domain, name] as const)),
);

/** @param host a name that leads back to the address, in lower case; null if unknown */
export function organisationOf(host: string | null): string | null {
  if (host === null) return null;
  const labels = host.split(".");
  for (let at = 0; at < labels.length - 1; at++) {
    const name = nameOfDomain.get(labels.slice(at).join("."));
    if (name !== undefined) return name;
  }
  return organisationalDomain(host);
}

/** The source of mail in a row, with the organisation. */
export function withOrganisation<Row extends { readonly host: string | null }>(row: Row) {
  return { ...row, organisation: organisationOf(row.host) };
}
