/** Checks the DNS records of this service's names, which receivers look up before they accept mail. */
import { isIP } from "node:net";
import { lookUpFault } from "#dns/look-up-fault.ts";
import type { NetworkResolver } from "#dns/network-resolver.ts";
import { passesSpf } from "#mail/dns/spf-evaluate.ts";
import { isSpfRecord, parseSpfRecord } from "#mail/dns/spf-record.ts";
import type { Config } from "#platform/config/config.ts";
import { findMailHosts, type MailHost, type MailHosts } from "#smtp-client/mx.ts";
import { type Finding, of } from "./finding.ts";

/** The status of findMailHosts if the DNS did not answer (RFC 3463: directory server failure). */
const DNS_SILENT = "4.4.3";

/**
 * The names that receivers and customers look up: those of return paths and of the SPF record.
 * @param sendingIps null if the database cannot be read
 */
export async function checkMailNames(
  resolver: NetworkResolver,
  { BOUNCE_DOMAIN, INBOUND_PORT, MAIL_HOSTNAME, MAIL_MODE, PLATFORM_SPF_DOMAIN }: Config,
  sendingIps: readonly { readonly ip: string }[] | null,
): Promise<Finding[]> {
  const name = MAIL_HOSTNAME.toLowerCase();
  const [hosts, spf, ...own] = await Promise.all([
    findMailHosts(resolver, BOUNCE_DOMAIN, { allowPrivate: true }),
    resolver.txt(PLATFORM_SPF_DOMAIN),
    resolver.ipv4(name),
    resolver.ipv6(name),
  ]);
  const addresses = own.flatMap((answer) => (answer.outcome === "found" ? answer.records : []));
  // Receivers see the smart host's address, not ours.
  const senders = MAIL_MODE === "relay" ? [] : [...addresses, ...(sendingIps ?? []).map(({ ip }) => ip)];
  return [
    checkBounces(BOUNCE_DOMAIN, hosts, INBOUND_PORT === null ? null : { name, addresses }),
    ...receiving(INBOUND_PORT),
    await checkSpf(resolver, PLATFORM_SPF_DOMAIN, spf, new Set(senders)),
  ];
}

function receiving(inboundPort: Config["INBOUND_PORT"]): Finding[] {
  if (inboundPort !== null) return [];
  const message =
    "INBOUND_PORT is not set: bounces and complaints that arrive by mail are not received, so their addresses are mailed again.";
  return [of("inbound")("warning", message)];
}

/** The name and addresses of this service's inbound port; no addresses if the DNS did not answer. */
interface Receiver {
  readonly name: string;
  readonly addresses: readonly string[];
}

/**
 * The return-path domain needs an MX even if this service receives no mail: many servers refuse a sender whose domain
 * accepts no mail.
 * @param receiver null if this service receives no mail
 */
function checkBounces(domain: string, hosts: MailHosts, receiver: Receiver | null): Finding {
  const say = of("bounces");
  if (hosts.outcome === "found") {
    const found = `Mail to ${domain} goes to ${hosts.hosts.map(({ name }) => name).join(", ")}`;
    return receiver === null || leadsTo(hosts.hosts, receiver)
      ? say("ok", `${found}.`)
      : say(
          "warning",
          `${found}, which is not MAIL_HOSTNAME ${receiver.name}: bounces and complaints are lost unless that host is another machine of this service with the role inbound. Otherwise point the MX record to ${receiver.name}.`,
        );
  }
  return hosts.enhanced === DNS_SILENT
    ? say("not_checked", `${hosts.reason}.`)
    : say(
        "fault",
        `No host accepts mail to ${domain}: ${hosts.reason}. Many servers refuse mail with such a return path. Point its MX record to this service.`,
      );
}

function leadsTo(hosts: readonly MailHost[], { name, addresses }: Receiver): boolean {
  if (addresses.length === 0) return true;
  return hosts.some((host) => host.name === name || host.addresses.some((one) => addresses.includes(one)));
}

async function checkSpf(
  resolver: NetworkResolver,
  domain: string,
  answer: Awaited<ReturnType<NetworkResolver["txt"]>>,
  senders: ReadonlySet<string>,
): Promise<Finding> {
  const say = of("SPF");
  if (answer.outcome === "failed") {
    return say("not_checked", lookUpFault(domain, answer));
  }
  const [text, ...others] = answer.outcome === "found" ? answer.records.filter(isSpfRecord) : [];
  if (text === undefined) {
    return say(
      "fault",
      `${domain} has no SPF record, which your customers' records include: add one that lists your addresses.`,
    );
  }
  if (others.length > 0) {
    return say(
      "fault",
      `${domain} has ${others.length + 1} SPF records, which receivers treat as an error: keep one.`,
    );
  }
  const record = parseSpfRecord(text);
  if ("faulty" in record) {
    return say(
      "fault",
      `The SPF record of ${domain} is invalid ("${record.faulty}": ${record.why}), which receivers treat as an error: correct it.`,
    );
  }
  const judged = [...senders].map(async (ip) =>
    (await passesSpf(resolver, { domain, record }, ip)) === false ? [ip] : [],
  );
  const unnamed = (await Promise.all(judged)).flat();
  if (unnamed.length === 0) return say("ok", `${domain} says "${text}".`);
  const terms = unnamed.map((ip) => `ip${isIP(ip)}:${ip}`).join(" ");
  return say(
    "warning",
    `${domain} says "${text}", which does not list ${unnamed.join(", ")}: mail from there fails SPF. Add ${terms} before "all".`,
  );
}
