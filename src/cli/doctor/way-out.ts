/** Whether mail leaves this machine at all: many networks close port 25, and a smart host may refuse the password. */
import { laneFor, mergeLanes } from "../../delivery/lanes/lanes.ts";
import { type Destination, routeToRelay } from "../../delivery/routes/destination.ts";
import { findMailHosts, type MailHost } from "../../delivery/routes/mx.ts";
import { readRelay } from "../../delivery/routes/relay.ts";
import { type SmtpDeadlines, standardDeadlines } from "../../delivery/smtp/deadlines.ts";
import { type OpenResult, openSession, type SessionOptions } from "../../delivery/smtp/session.ts";
import type { Config } from "../../platform/config.ts";
import type { NetworkResolver } from "../../platform/dns.ts";
import { type Finding, of } from "./finding.ts";

/** Nobody waits at a terminal as long as mail does. */
const STEP_MS = 10_000;
const deadlines: SmtpDeadlines = {
  ...standardDeadlines,
  connect: STEP_MS,
  banner: STEP_MS,
  ehlo: STEP_MS,
  starttls: STEP_MS,
  auth: STEP_MS,
  quit: STEP_MS / 10,
};
/** Where one is shut, the next may just be far away; where all are, the way is. */
const MOST_HOSTS = 3;

type Way = Pick<SessionOptions, "port" | "tls" | "credentials"> & { readonly ehloName: string };

/** Connects to the mail hosts of a domain and says nothing but a greeting and goodbye. */
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
  const found = await findMailHosts(resolver, domain, { allowPrivate: ALLOW_PRIVATE_MX });
  if (found.outcome !== "found") return say("not_checked", `${found.reason}: try another domain (--mx-of).`);
  const way = { port: SMTP_PORT, ehloName: MAIL_HOSTNAME, tls: "opportunistic" } as const;
  return greet(
    say,
    found.hosts,
    way,
    "Many networks close it: ask yours to open it, or send by MAIL_MODE=relay.",
  );
}

/** The same of the smart host, logging in where it has a name and a password. */
export async function checkRelay(
  resolver: NetworkResolver,
  { RELAY_URL, MAIL_HOSTNAME, LANES_FILE }: Config,
): Promise<Finding> {
  const say = of("relay");
  if (RELAY_URL === null) return say("fault", "RELAY_URL is not set.");
  const { host, port, implicitTls, credentials } = readRelay(RELAY_URL);
  const lane = laneFor([], mergeLanes(LANES_FILE));
  const route = await routeToRelay(host, { resolver, lane, allowPrivate: true, setting: "RELAY_URL" })("");
  if ("outcome" in route) return say("fault", `${route.reason}.`);
  const tls = implicitTls ? "implicit" : "opportunistic";
  return greet(say, route.hosts, { port, ehloName: MAIL_HOSTNAME, tls, credentials }, "Look at RELAY_URL.");
}

async function greet(
  say: ReturnType<typeof of>,
  hosts: Destination["hosts"],
  way: Way,
  cure: string,
): Promise<Finding> {
  const silent: string[] = [];
  for (const host of hosts.slice(0, MOST_HOSTS)) {
    const { place, opened } = await open(host, way);
    if (opened.outcome === "open") {
      const { tls, offers } = opened.session;
      await opened.session.quit();
      const secured = tls === null ? "in clear text" : `with ${tls.protocol}`;
      return say("ok", `${place} answers, ${secured}${offers.pipelining ? "" : ", without pipelining"}.`);
    }
    if (opened.outcome === "refused") {
      const words = `${opened.code} ${opened.text}`;
      return say("warning", `${place} can be reached, but refuses us (${opened.stage}): ${words}`);
    }
    if (opened.stage !== "connect") {
      return say(
        "warning",
        `${place} can be reached, but the greeting broke off (${opened.stage}): ${opened.reason}.`,
      );
    }
    silent.push(`${place}: ${opened.reason}`);
  }
  return say("fault", `No connection. ${silent.join("; ")}. ${cure}`);
}

async function open(
  { name, addresses: [address = ""] }: MailHost,
  way: Way,
): Promise<{ readonly place: string; readonly opened: OpenResult }> {
  const place = `${name} (${address}, port ${way.port})`;
  return { place, opened: await openSession({ ...way, host: name, address, deadlines }) };
}
