/** Checks that the DNS servers of this machine answer: without them no mail leaves, and no domain can be verified. */
import { createResolver, type DnsOptions, serversInUse } from "#dns/network-resolver.ts";
import type { Config } from "#platform/config/config.ts";
import { type Finding, of } from "./finding.ts";

const say = of("DNS servers");
/** Every DNS server can answer about it, if only with a refusal. */
const ASKED = "com";

/** In capture mode only those of DNS_SERVERS, because a machine for development may have none. */
export async function checkDnsServers(
  { DNS_SERVERS, MAIL_MODE }: Config,
  dns: Omit<DnsOptions, "servers">,
): Promise<Finding[]> {
  if (MAIL_MODE === "capture" && DNS_SERVERS.length === 0) return [];
  const servers = serversInUse(DNS_SERVERS);
  const faults = await Promise.all(servers.map((server) => faultOf(server, dns)));
  const silent = faults.filter((fault) => fault !== null);
  if (silent.length === 0) {
    return [say("ok", `${servers.join(", ")} ${servers.length === 1 ? "answers" : "answer"}.`)];
  }
  const source = DNS_SERVERS.length > 0 ? "DNS_SERVERS" : "/etc/resolv.conf";
  const names = silent.join(", ");
  return [
    silent.length === servers.length
      ? say(
          "fault",
          `No DNS server answers: ${names}. No mail leaves, and no domain can be verified: correct ${source}.`,
        )
      : say(
          "warning",
          `Of the DNS servers these do not answer: ${names}. A look-up waits while it asks them: correct ${source}.`,
        ),
  ];
}

/** Such as "127.0.0.1:53 (ETIMEOUT)"; null for a server that answers. */
async function faultOf(server: string, dns: Omit<DnsOptions, "servers">): Promise<string | null> {
  const answer = await createResolver({ ...dns, servers: [server] }).ns(ASKED);
  const isSilent = answer.outcome === "failed" && (answer.isUnanswered || answer.reason === "EREFUSED");
  return isSilent ? `${server} (${answer.reason})` : null;
}
