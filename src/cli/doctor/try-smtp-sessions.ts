/** Opens SMTP sessions with mail servers, without sending mail. */

import { isLoopback } from "#platform/network/public-address.ts";
import { type SmtpDeadlines, standardDeadlines } from "#smtp-client/deadlines.ts";
import type { MailHost } from "#smtp-client/mx.ts";
import { type OpenResult, openSession, type SessionOptions } from "#smtp-client/session.ts";

/** Shorter than the delivery deadlines, because an operator waits at a terminal. */
const STEP_MS = 10_000;
const deadlines: SmtpDeadlines = {
  ...standardDeadlines,
  connect: STEP_MS,
  banner: STEP_MS,
  ehlo: STEP_MS,
  starttls: STEP_MS,
  ehloUnderTls: STEP_MS,
  auth: STEP_MS,
  quit: STEP_MS / 10,
};
/** If three addresses do not answer, the network probably blocks the port. */
const MOST_TRIES = 3;

export type SessionPath = Pick<SessionOptions, "port" | "tls" | "ehloName" | "credentials">;

interface Opened {
  readonly opened: OpenResult;
  /** Why TLS failed, if the session was then opened in clear text. */
  readonly tlsFault: string | null;
}

/** The result of trying the addresses of mail hosts. */
export interface Reachability {
  /** The first address that answered. */
  readonly answered: (Opened & { readonly place: string }) | null;
  /** The addresses that did not answer, each with the reason. */
  readonly silent: readonly string[];
}

/** Tries addresses one after the other until one answers; the first address of every host comes first. */
export async function tryHosts(
  hosts: readonly Pick<MailHost, "name" | "addresses">[],
  path: SessionPath,
): Promise<Reachability> {
  const targets = hosts
    .flatMap(({ name, addresses }) => addresses.map((address, rank) => ({ name, address, rank })))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, MOST_TRIES);
  const silent: string[] = [];
  for (const { name, address } of targets) {
    const { opened, tlsFault } = await open({ ...path, host: name, address, deadlines });
    if (opened.outcome === "open") await opened.session.quit();
    const place = `${name} (${address}, port ${path.port})`;
    if (!isSilence(opened)) return { answered: { place, opened, tlsFault }, silent };
    silent.push(`${place}: ${opened.reason}`);
  }
  return { answered: null, silent };
}

/** Opens a session as delivery does: in clear text if TLS fails, unless a password would leave this machine in clear text. */
async function open(target: SessionOptions): Promise<Opened> {
  const { tls, credentials, address } = target;
  const opened = await openSession(target);
  const mayGoInClear = tls === "opportunistic" && (credentials === undefined || isLoopback(address));
  if (opened.outcome === "open" || !opened.tlsFailed || !mayGoInClear) return { opened, tlsFault: null };
  const tlsFault = opened.outcome === "refused" ? `${opened.code} ${opened.text}` : opened.reason;
  return { opened: await openSession({ ...target, tls: "none" }), tlsFault };
}

/** A connection without a banner counts as no answer: a firewall that blocks the port may accept the connection itself. */
function isSilence(opened: OpenResult): opened is Extract<OpenResult, { readonly outcome: "broken" }> {
  return opened.outcome === "broken" && (opened.stage === "connect" || opened.stage === "banner");
}
