/**
 * Opens sessions with hosts: under TLS where they offer it, and in clear text where TLS fails (opportunistic, RFC 7435),
 * unless the host, the recipient's domain, the lane or a password demands TLS. docs/delivery.md has the table.
 */

import { ExpiringMap } from "#platform/cache.ts";
import { isLoopback } from "#platform/network/public-address.ts";
import type { SmtpCredentials } from "#smtp-client/auth.ts";
import { tlsFaultOf } from "#smtp-client/greeting.ts";
import type { MailHost } from "#smtp-client/mx.ts";
import { type OpenResult, openSession, type SessionOptions } from "#smtp-client/session.ts";
import { requiresTls } from "#smtp-client/tls.ts";
import type { Lane } from "./lanes.ts";

/** For how long a host whose TLS has failed is spoken to in clear text; then TLS is tried again. */
const CLEAR_TEXT_MS = 60 * 60_000;
/**
 * The same where the cause is uncertain: TLS timed out, as it does when this machine is busy; the server answered 421, as
 * one that is busy does; or clear text has failed, too. Longer than until the first retry.
 */
const UNCERTAIN_MS = 10 * 60_000;
/** Hosts of one lane whose TLS has failed. */
const MOST_REMEMBERED = 10_000;
/** Of what a server says in place of TLS. */
const LONGEST_FAULT = 300;

export interface SessionSettings {
  readonly port: number;
  readonly ehloName: string;
  /** The source address, where one was chosen; hosts are reached by addresses of its family only. */
  readonly localAddress?: string;
  /** What a smart host wants. */
  readonly implicitTls?: boolean;
  readonly credentials?: SmtpCredentials | undefined;
  readonly options?: Pick<SessionOptions, "deadlines" | "secureContext">;
}

/** What came of an opening. */
export interface Opening {
  readonly result: OpenResult;
  /** Why TLS had failed with the host, where it was then spoken to in clear text. */
  readonly tlsFault: string | null;
}

interface TlsFault {
  readonly reason: string;
  /** It may pass soon: a timeout, or a 421. */
  readonly isPassing: boolean;
}

interface RememberedFault extends TlsFault {
  /** A session in clear text has been opened since. */
  readonly isProven: boolean;
}

export class Openings {
  readonly #lane: Lane;
  readonly #settings: SessionSettings;
  /** How TLS has failed with hosts. */
  readonly #tlsFaults = new ExpiringMap<RememberedFault>(MOST_REMEMBERED);

  constructor(lane: Lane, settings: SessionSettings) {
    this.#lane = lane;
    this.#settings = settings;
  }

  /** Opens a session with one address of a host. */
  async open(host: MailHost, address: string): Promise<Opening> {
    const { port, ehloName, localAddress, implicitTls, credentials, options } = this.#settings;
    const target = { host: host.name, address, port, ehloName, localAddress, credentials, ...options };
    if (implicitTls) return { result: await openSession({ ...target, tls: "implicit" }), tlsFault: null };
    const demander = this.#demanderOfTls(host, address);
    if (demander !== null) {
      const demand = requiresTls(host.tls) ? host.tls : undefined;
      const opened = await openSession({ ...target, tls: "required", demand });
      return { result: inDemandOf(demander, opened), tlsFault: null };
    }
    const known = this.#tlsFaults.get(host.name);
    if (known !== undefined) return this.#openInClearText(target, known, true);
    const result = await openSession({ ...target, tls: "opportunistic" });
    if (result.outcome === "open" || !result.tlsFailed) return { result, tlsFault: null };
    const reason = tlsFaultOf(result).slice(0, LONGEST_FAULT).toWellFormed();
    const isPassing = result.outcome === "broken" ? result.fault === "timeout" : result.code === 421;
    return this.#openInClearText(target, { reason, isPassing }, false);
  }

  /** TLS is tried with the next session. */
  tryTlsAgain(host: string): void {
    this.#tlsFaults.delete(host);
  }

  async #openInClearText(
    target: Omit<SessionOptions, "tls">,
    { reason, isPassing }: TlsFault,
    wasRemembered: boolean,
  ): Promise<Opening> {
    const result = await openSession({ ...target, tls: "none" });
    const { host } = target;
    if (result.outcome !== "open" && wasRemembered) this.tryTlsAgain(host);
    else this.#remember(host, { reason, isPassing, isProven: result.outcome === "open" });
    return { result, tlsFault: reason };
  }

  /**
   * What is known already is not prolonged. A host that does not answer in clear text either may allow one connection at a
   * time, so that the next attempt goes in clear text alone; if that fails, too, the trouble is another than TLS.
   */
  #remember(host: string, fault: RememberedFault): void {
    const known = this.#tlsFaults.get(host);
    const isCertain = fault.isProven && !fault.isPassing;
    if (known === undefined || (isCertain && !known.isProven))
      this.#tlsFaults.set(host, fault, isCertain ? CLEAR_TEXT_MS : UNCERTAIN_MS);
  }

  /** Null where clear text will do. */
  #demanderOfTls({ tls, isTlsRequired = false }: MailHost, address: string): string | null {
    if (requiresTls(tls)) return `${tls.by === "dane" ? "DANE" : "MTA-STS"} demands secure TLS`;
    if (this.#lane.tls_required || isTlsRequired) return "The lane demands TLS";
    const hasPassword = this.#settings.credentials !== undefined && !isLoopback(address);
    return hasPassword ? "The relay's password demands TLS" : null;
  }
}

/** Says who demanded the TLS that has failed. */
function inDemandOf(demander: string, opened: OpenResult): OpenResult {
  if (opened.outcome !== "broken" || !opened.tlsFailed) return opened;
  return { ...opened, fault: "tls", reason: `${demander}: ${opened.reason}` };
}
