/** Checks whether mail can leave this machine: many networks block port 25, and a smart host may refuse the password. */

import { readRelay } from "#delivery/routes/relay-url.ts";
import type { NetworkResolver } from "#dns/network-resolver.ts";
import type { Config } from "#platform/config/config.ts";
import { localNetworks } from "#platform/network/own-addresses.ts";
import { findMailHosts, lookUpHost } from "#smtp-client/mx.ts";
import { type Finding, type FindingStatus, of, type Say } from "./finding.ts";
import { type Reachability, tryHosts } from "./try-smtp-sessions.ts";

/** Connects to the mail hosts of a domain on port 25. */
export async function checkDirectWay(
  resolver: NetworkResolver,
  { SMTP_PORT, MAIL_HOSTNAME, ALLOW_PRIVATE_MX }: Config,
  domain: string | null,
): Promise<Finding> {
  const say = of(`port ${SMTP_PORT}`);
  if (domain === null) {
    return say(
      "not_checked",
      "Name a domain whose mail hosts are other machines (--mx-of example.com), or set PLATFORM_FROM.",
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
      `The mail hosts of ${domain} are this machine, so they do not show whether mail can leave it: name another domain (--mx-of).`,
    );
  }
  const path = { port: SMTP_PORT, ehloName: MAIL_HOSTNAME, tls: "opportunistic" } as const;
  return findingOf(say, await tryHosts(elsewhere, path), {
    silence: "Many networks block this port: ask your provider to open it, or send with MAIL_MODE=relay.",
    // A warning only, because other hosts may accept mail from this machine.
    refused: "warning",
    refusal: "",
  });
}

/** Connects to the smart host, and logs in if RELAY_URL has credentials. */
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
      ? say("fault", `${host} has no address in the DNS: check RELAY_URL.`)
      : say("not_checked", `${host} could not be looked up (${failure.reason}).`);
  }
  const tls = implicitTls ? "implicit" : "opportunistic";
  const reached = await tryHosts([{ name, addresses: usable }], {
    port,
    ehloName: MAIL_HOSTNAME,
    tls,
    credentials,
  });
  const cure = "Check RELAY_URL.";
  return findingOf(say, reached, { silence: cure, refused: "fault", refusal: ` ${cure}` });
}

function addressesBy(resolver: NetworkResolver): Parameters<typeof lookUpHost>[0] {
  return { addresses: (name) => Promise.all([resolver.ipv4(name), resolver.ipv6(name)]) };
}

interface Advice {
  /** The advice if no host answers. */
  readonly silence: string;
  /** The status of a refusal, and the advice for it. */
  readonly refused: FindingStatus;
  readonly refusal: string;
}

function findingOf(
  say: Say,
  { answered, silent }: Reachability,
  { silence, refused, refusal }: Advice,
): Finding {
  if (answered === null) return say("fault", `No host answers. ${silent.join("; ")}. ${silence}`);
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
      : `the connection failed (${opened.stage}): ${opened.reason}`;
  return say(refused, `${place} can be reached, but ${words}.${refusal}`);
}
