/**
 * Checks forward-confirmed reverse DNS of the source addresses and their EHLO names (RFC 1912 section 2.1): large
 * receivers refuse mail without it.
 */
import { isIP } from "node:net";
import { lookUpFault } from "#dns/look-up-fault.ts";
import type { NetworkResolver } from "#dns/network-resolver.ts";
import { reverseName } from "#mail/dns/reverse-name.ts";
import { type Finding, of } from "./finding.ts";

const say = of("reverse DNS");

/** A source address and its EHLO name. */
interface Greeting {
  readonly ip: string;
  readonly name: string;
}

/**
 * Checks every address of MAIL_HOSTNAME and every sending IP.
 * @param sendingIps null if the database cannot be read
 */
export async function checkReverseNames(
  resolver: NetworkResolver,
  mailHostname: string,
  sendingIps: readonly { readonly ip: string; readonly hostname: string | null }[] | null,
): Promise<Finding[]> {
  const name = mailHostname.toLowerCase();
  const looks = await Promise.all([4, 6].map((family) => findAddresses(resolver, name, family)));
  const own = looks.flatMap((look) => ("check" in look ? [] : look)).map((ip) => ({ ip, name }));
  const unanswered = looks.flatMap((look) => ("check" in look ? [look] : []));
  const others = (sendingIps ?? []).map(({ ip, hostname }) => ({ ip, name: hostname ?? name }));
  // Keyed by the reverse name, because an IPv6 address has several spellings.
  const greetings = new Map([...own, ...others].map((one) => [`${reverseName(one.ip)} ${one.name}`, one]));
  const ofOwn = own.length === 0 && unanswered.length === 0 ? [nowhere(mailHostname)] : unanswered;
  const checked = [...greetings.values()].map((greeting) => checkGreeting(resolver, greeting));
  return [...(await Promise.all(checked)), ...ofOwn, ...(sendingIps === null ? [unknownIps] : [])];
}

const unknownIps = say(
  "not_checked",
  "Sending IPs can be read only from a database whose schema is up to date.",
);

function nowhere(mailHostname: string): Finding {
  return say(
    "fault",
    `MAIL_HOSTNAME ${mailHostname} has no address in the DNS: large receivers refuse mail from such a name. Add its A record.`,
  );
}

/** Checks the PTR record of the address and the address records of its name. */
async function checkGreeting(resolver: NetworkResolver, { ip, name }: Greeting): Promise<Finding> {
  const answer = await resolver.ptr(reverseName(ip));
  if (answer.outcome === "failed") {
    return say("not_checked", lookUpFault(`The name of ${ip}`, answer));
  }
  const names = answer.outcome === "found" ? answer.records : [];
  if (!names.includes(name)) {
    const found = names.length === 0 ? "has no name" : `is called ${names.join(", ")}`;
    return say(
      "fault",
      `${ip} ${found}, but greets as ${name}: large receivers refuse mail from it. Ask the provider of the address to set its PTR record.`,
    );
  }
  const addresses = await findAddresses(resolver, name, isIP(ip));
  if ("check" in addresses) return addresses;
  if (addresses.some((address) => reverseName(address) === reverseName(ip))) {
    return say("ok", `${ip} is called ${name}, which leads back.`);
  }
  const found = addresses.length === 0 ? "has no address" : `leads to ${addresses.join(", ")}`;
  return say(
    "fault",
    `${ip} is called ${name}, but that name ${found}: large receivers believe only a name that leads back. Add its ${isIP(ip) === 4 ? "A" : "AAAA"} record.`,
  );
}

/** The addresses of one family, or a finding if the DNS did not answer. */
async function findAddresses(
  resolver: NetworkResolver,
  name: string,
  family: number,
): Promise<readonly string[] | Finding> {
  const answer = await (family === 4 ? resolver.ipv4(name) : resolver.ipv6(name));
  if (answer.outcome === "found") return answer.records;
  if (answer.outcome === "absent") return [];
  return say("not_checked", lookUpFault(`The IPv${family} addresses of ${name}`, answer));
}
