/** What others find under our names in the DNS before they take mail from us. */
import { isIP } from "node:net";
import { findMailHosts } from "../../delivery/routes/mx.ts";
import { createCertificateCheck } from "../../identity/tracking-domains/certificate.ts";
import { isSpfRecord } from "../../mail/dns/spf-record.ts";
import type { Config } from "../../platform/config.ts";
import type { NetworkResolver } from "../../platform/dns.ts";
import { publicUrlFault } from "../../platform/links-lead-here.ts";
import { type Finding, of } from "./finding.ts";

const HTTPS = 443;

/** The names that receivers and customers look up: those of return paths and of the SPF record. */
export async function checkMailNames(
  resolver: NetworkResolver,
  { BOUNCE_DOMAIN, INBOUND_PORT, PLATFORM_SPF_DOMAIN }: Config,
): Promise<Finding[]> {
  const [hosts, spf] = await Promise.all([
    findMailHosts(resolver, BOUNCE_DOMAIN, { allowPrivate: true }),
    resolver.txt(PLATFORM_SPF_DOMAIN),
  ]);
  return [checkBounces(INBOUND_PORT !== null, BOUNCE_DOMAIN, hosts), checkSpf(PLATFORM_SPF_DOMAIN, spf)];
}

function checkBounces(
  isReceiving: boolean,
  domain: string,
  hosts: Awaited<ReturnType<typeof findMailHosts>>,
): Finding {
  const say = of("bounces");
  if (!isReceiving) {
    return say(
      "warning",
      "INBOUND_PORT is not set: bounces and complaints that come later are not received, so that such addresses are written to again.",
    );
  }
  if (hosts.outcome === "found") {
    return say("ok", `Mail to ${domain} goes to ${hosts.hosts.map(({ name }) => name).join(", ")}.`);
  }
  return hosts.status === "deferred"
    ? say("not_checked", `The mail hosts of ${domain} could not be looked up: ${hosts.reason}.`)
    : say("fault", `Nobody takes mail to ${domain}: ${hosts.reason}. Let its MX lead to this service.`);
}

function checkSpf(domain: string, answer: Awaited<ReturnType<NetworkResolver["txt"]>>): Finding {
  const say = of("SPF");
  if (answer.outcome === "failed") {
    return say("not_checked", `${domain} could not be looked up (${answer.reason}).`);
  }
  const record = answer.outcome === "found" ? answer.records.find(isSpfRecord) : undefined;
  return record === undefined
    ? say(
        "fault",
        `${domain} has no SPF record, which your customers' records include: add one that names your addresses.`,
      )
    : say("ok", `${domain} says "${record}".`);
}

/** Where links in mails lead. */
export async function checkPublicUrl({ MAIL_MODE, PUBLIC_URL, DNS_SERVERS }: Config): Promise<Finding> {
  const say = of("public URL");
  const fault = publicUrlFault({ MAIL_MODE, PUBLIC_URL });
  if (fault !== null || PUBLIC_URL === null) return say("fault", `${fault ?? "PUBLIC_URL is not set"}.`);
  const host = PUBLIC_URL.hostname.replace(/^\[|\]$/g, "");
  const port = Number(PUBLIC_URL.port) || HTTPS;
  const findCertificateFault = createCertificateCheck({ servers: DNS_SERVERS, port, allowPrivate: true });
  const certificate = isIP(host) === 0 ? await findCertificateFault(host) : null;
  return certificate === null
    ? say("ok", `Links lead to ${PUBLIC_URL.href}.`)
    : say("fault", `Browsers do not trust ${PUBLIC_URL.href}: ${certificate}.`);
}
