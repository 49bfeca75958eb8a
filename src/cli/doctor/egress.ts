/** Whether mail leaves this machine at all: many networks close port 25, and a smart host may refuse the password. */

import { readRelay } from "#delivery/routes/relay-url.ts";
import type { NetworkResolver } from "#dns/system.ts";
import type { Config } from "#platform/config/config.ts";
import { localNetworks } from "#platform/network/local-networks.ts";
import { findMailHosts, lookUpHost } from "#smtp-client/mx.ts";
import { type Finding, type FindingStatus, of, type Say } from "./finding.ts";
import { type Knock, knock } from "./reachability.ts";

/** The mail hosts of a domain, by port 25. */
export async function checkDirectWay(
  resolver: NetworkResolver,
  { SMTP_PORT, MAIL_HOSTNAME, ALLOW_PRIVATE_MX }: Config,
  domain: string | null,
): Promise<Finding> {
  const say = of(`port ${SMTP_PORT}`);
  if (domain === null) {
    return say(
      "not_checked",
      "Name a domain whose mail hosts are elsewhere (--mx-of example.com), or set PLATFORM_FROM.",
    );
  }
  const [found, ours] = await Promise.all([
    findMailHosts(resolver, domain, { allowPrivate: ALLOW_PRIVATE_MX }),
    lookUpHost(addressesBy(resolver), MAIL_HOSTNAME, true),
  ]);
  if (found.outcome !== "found") return say("not_checked", `${found.reason}: try another domain (--mx-of).`);
  const own = new Set([...ours.usable, ...localNetworks().addresses]);
  const elsewhere = found.hosts.map(({ name, addresses }) => ({
    name,
    addresses: addresses.filter((address) => !own.has(address)),
  }));
  if (elsewhere.every(({ addresses }) => addresses.length === 0)) {
    return say(
      "not_checked",
      `The mail of ${domain} comes to this machine, which says nothing of the way out: name another domain (--mx-of).`,
    );
  }
  const way = { port: SMTP_PORT, ehloName: MAIL_HOSTNAME, tls: "opportunistic" } as const;
  return judge(say, await knock(elsewhere, way), {
    silence: "Many networks close it: ask yours to open it, or send by MAIL_MODE=relay.",
    // Others may take our mail all the same.
    refused: "warning",
    refusal: "",
  });
}

/** The smart host, logging in where it has a name and a password. */
export async function checkRelay(
  resolver: NetworkResolver,
  { RELAY_URL, MAIL_HOSTNAME }: Config,
): Promise<Finding> {
  const say = of("relay");
  if (RELAY_URL === null) return say("fault", "RELAY_URL is not set.");
  const { host, port, implicitTls, credentials } = readRelay(RELAY_URL);
  const { name, usable, failure } = await lookUpHost(addressesBy(resolver), host, true);
  if (usable.length === 0) {
    return failure === null
      ? say("fault", `${host} has no address in the DNS: look at RELAY_URL.`)
      : say("not_checked", `${host} could not be looked up (${failure.reason}).`);
  }
  const tls = implicitTls ? "implicit" : "opportunistic";
  const knocked = await knock([{ name, addresses: usable }], {
    port,
    ehloName: MAIL_HOSTNAME,
    tls,
    credentials,
  });
  const cure = "Look at RELAY_URL.";
  return judge(say, knocked, { silence: cure, refused: "fault", refusal: ` ${cure}` });
}

function addressesBy(resolver: NetworkResolver): Parameters<typeof lookUpHost>[0] {
  return { addresses: (name) => Promise.all([resolver.ipv4(name), resolver.ipv6(name)]) };
}

interface Judgement {
  /** What to do where nobody answers. */
  readonly silence: string;
  /** How bad a refusal is, and what to do then. */
  readonly refused: FindingStatus;
  readonly refusal: string;
}

function judge(say: Say, { answered, silent }: Knock, { silence, refused, refusal }: Judgement): Finding {
  if (answered === null) return say("fault", `Nobody answers. ${silent.join("; ")}. ${silence}`);
  const { place, opened, tlsFault } = answered;
  if (opened.outcome === "open") {
    const { tls, offers } = opened.session;
    const pipelining = offers.pipelining ? "" : ", without pipelining";
    if (tls !== null) return say("ok", `${place} answers, with ${tls.protocol}${pipelining}.`);
    const why = tlsFault === null ? "the server offers no STARTTLS" : `TLS failed (${tlsFault})`;
    return say("ok", `${place} answers, in clear text${pipelining}: ${why}.`);
  }
  const words =
    opened.outcome === "refused"
      ? `refuses us (${opened.stage}): ${opened.code} ${opened.text}`
      : `the greeting broke off (${opened.stage}): ${opened.reason}`;
  return say(refused, `${place} can be reached, but ${words}.${refusal}`);
}
