/**
 * Checks that mail to a domain with inbound routes comes here: its most preferred mail servers (RFC 5321 section 5.1) have to
 * be ours, because senders try them first.
 */
import { lookUpFault } from "#dns/look-up-fault.ts";
import type { Resolver } from "#dns/resolver-interface.ts";
import type { DnsCheck } from "#identity/dns-checks/dns-check.ts";

const PREFERENCE = 10;

export interface ReceivingHosts {
  /** The most preferred first. */
  readonly names: readonly string[];
  /** False when the look-up failed, so that there may be others. */
  readonly areKnown: boolean;
}

/**
 * The mail servers that receive for this installation: those of BOUNCE_DOMAIN, whose mail comes here, or this machine if they
 * cannot be found.
 */
export async function receivingHosts(
  resolver: Resolver,
  { BOUNCE_DOMAIN, MAIL_HOSTNAME }: { readonly BOUNCE_DOMAIN: string; readonly MAIL_HOSTNAME: string },
): Promise<ReceivingHosts> {
  const answer = await resolver.mx(BOUNCE_DOMAIN);
  const records = answer.outcome === "found" ? answer.records : [];
  const hosts = records
    .filter(({ exchange }) => exchange !== "")
    .toSorted((one, other) => one.preference - other.preference)
    .map(({ exchange }) => exchange.toLowerCase());
  const names = hosts.length > 0 ? hosts : [MAIL_HOSTNAME.toLowerCase()];
  return { names, areKnown: answer.outcome !== "failed" };
}

export async function checkReceiving(
  resolver: Resolver,
  host: string,
  ours: ReceivingHosts,
): Promise<DnsCheck> {
  const answer = await resolver.mx(host);
  const records = answer.outcome === "found" ? answer.records : [];
  const sorted = records.toSorted((one, other) => one.preference - other.preference);
  const conclude = (status: DnsCheck["status"], message: string): DnsCheck => ({
    status,
    host,
    type: "MX",
    expected: `${PREFERENCE} ${ours.names[0]}`,
    found: sorted.map(({ preference, exchange }) => `${preference} ${exchange || "."}`),
    found_host: null,
    diagnosis: null,
    message,
  });
  if (answer.outcome === "failed") return conclude("error", lookUpFault(host, answer));
  if (!ours.areKnown) {
    return conclude("error", "The mail servers of this service could not be looked up: check again later.");
  }
  const [first] = sorted;
  if (first === undefined) {
    return conclude("missing", `${host} has no mail server: add the MX record, so that mail comes here.`);
  }
  const isOurs = ({ exchange }: { readonly exchange: string }) => ours.names.includes(exchange.toLowerCase());
  const preferred = sorted.filter(({ preference }) => preference === first.preference);
  if (preferred.every(isOurs)) return conclude("verified", `Mail to ${host} comes here.`);
  return sorted.some(isOurs)
    ? conclude(
        "mismatch",
        `Mail to ${host} goes to other servers first: give ours the smallest number, and remove those that should not receive it.`,
      )
    : conclude(
        "mismatch",
        `Mail to ${host} goes to another server. If people have mailboxes there, receive at a name below the domain instead, such as in.${host}.`,
      );
}
