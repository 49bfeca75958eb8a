/** What others find under our names in the DNS before they take mail from us. */
import { findMailHosts, type MailHosts } from "../../delivery/routes/mx.ts";
import { isSpfRecord, parseSpfRecord } from "../../mail/dns/spf-record.ts";
import type { Config } from "../../platform/config.ts";
import type { NetworkResolver } from "../../platform/dns.ts";
import { type Finding, of } from "./finding.ts";

/** What findMailHosts says where the DNS left the question open (RFC 3463: directory server failure). */
const DNS_SILENT = "4.4.3";

/** The names that receivers and customers look up: those of return paths and of the SPF record. */
export async function checkMailNames(
  resolver: NetworkResolver,
  { BOUNCE_DOMAIN, INBOUND_PORT, PLATFORM_SPF_DOMAIN }: Config,
): Promise<Finding[]> {
  const [hosts, spf] = await Promise.all([
    findMailHosts(resolver, BOUNCE_DOMAIN, { allowPrivate: true }),
    resolver.txt(PLATFORM_SPF_DOMAIN),
  ]);
  return [checkBounces(BOUNCE_DOMAIN, hosts), ...receiving(INBOUND_PORT), checkSpf(PLATFORM_SPF_DOMAIN, spf)];
}

function receiving(inboundPort: Config["INBOUND_PORT"]): Finding[] {
  if (inboundPort !== null) return [];
  const message =
    "INBOUND_PORT is not set: bounces and complaints that come later are not received, so that such addresses are written to again.";
  return [of("inbound")("warning", message)];
}

/** Return paths need it even where nothing is received: many servers refuse a sender whose domain takes no mail. */
function checkBounces(domain: string, hosts: MailHosts): Finding {
  const say = of("bounces");
  if (hosts.outcome === "found") {
    return say("ok", `Mail to ${domain} goes to ${hosts.hosts.map(({ name }) => name).join(", ")}.`);
  }
  return hosts.enhanced === DNS_SILENT
    ? say("not_checked", `${hosts.reason}.`)
    : say(
        "fault",
        `Nobody takes mail to ${domain}: ${hosts.reason}. Many servers refuse mail with such a return path. Let its MX lead to this service.`,
      );
}

function checkSpf(domain: string, answer: Awaited<ReturnType<NetworkResolver["txt"]>>): Finding {
  const say = of("SPF");
  if (answer.outcome === "failed") {
    return say("not_checked", `${domain} could not be looked up (${answer.reason}).`);
  }
  const [text, ...others] = answer.outcome === "found" ? answer.records.filter(isSpfRecord) : [];
  if (text === undefined) {
    return say(
      "fault",
      `${domain} has no SPF record, which your customers' records include: add one that names your addresses.`,
    );
  }
  if (others.length > 0) {
    return say(
      "fault",
      `${domain} has ${others.length + 1} SPF records, which is an error to receivers: keep one.`,
    );
  }
  const record = parseSpfRecord(text);
  return "faulty" in record
    ? say(
        "fault",
        `The SPF record of ${domain} is invalid (${record.faulty}), which is an error to receivers: correct it.`,
      )
    : say("ok", `${domain} says "${text}".`);
}
