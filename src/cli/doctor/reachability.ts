/** Greets mail servers and says goodbye; nothing is sent. */

import { isLoopback } from "#platform/network/public-address.ts";
import { type SmtpDeadlines, standardDeadlines } from "#smtp-client/deadlines.ts";
import type { MailHost } from "#smtp-client/mx.ts";
import { type OpenResult, openSession, type SessionOptions } from "#smtp-client/session.ts";

/** Nobody waits at a terminal as long as mail does. */
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
/** Where one is shut, the next may just be far away; where all are, the way is. */
const MOST_TRIES = 3;

export type Way = Pick<SessionOptions, "port" | "tls" | "ehloName" | "credentials">;

interface Opened {
  readonly opened: OpenResult;
  /** Why TLS broke, where the session was then opened in clear text. */
  readonly tlsFault: string | null;
}

/** What came of knocking. */
export interface Knock {
  /** The first that answered. */
  readonly answered: (Opened & { readonly place: string }) | null;
  /** Those before it, and why. */
  readonly silent: readonly string[];
}

/** One address after the other until somebody answers, first addresses first. */
export async function knock(
  hosts: readonly Pick<MailHost, "name" | "addresses">[],
  way: Way,
): Promise<Knock> {
  const doors = hosts
    .flatMap(({ name, addresses }) => addresses.map((address, rank) => ({ name, address, rank })))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, MOST_TRIES);
  const silent: string[] = [];
  for (const { name, address } of doors) {
    const { opened, tlsFault } = await open({ ...way, host: name, address, deadlines });
    if (opened.outcome === "open") await opened.session.quit();
    const place = `${name} (${address}, port ${way.port})`;
    if (!isSilence(opened)) return { answered: { place, opened, tlsFault }, silent };
    silent.push(`${place}: ${opened.reason}`);
  }
  return { answered: null, silent };
}

/** As mail does: where TLS breaks, it goes in clear text, but no password does, except within this machine. */
async function open(target: SessionOptions): Promise<Opened> {
  const { tls, credentials, address } = target;
  const opened = await openSession(target);
  const mayGoInClear = tls === "opportunistic" && (credentials === undefined || isLoopback(address));
  if (opened.outcome === "open" || !opened.tlsFailed || !mayGoInClear) return { opened, tlsFault: null };
  const tlsFault = opened.outcome === "refused" ? `${opened.code} ${opened.text}` : opened.reason;
  return { opened: await openSession({ ...target, tls: "none" }), tlsFault };
}

/** A connection without a banner is nobody's: networks that close a port may take the connection themselves. */
function isSilence(opened: OpenResult): opened is Extract<OpenResult, { readonly outcome: "broken" }> {
  return opened.outcome === "broken" && (opened.stage === "connect" || opened.stage === "banner");
}
