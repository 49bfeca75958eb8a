/**
 * Opens sessions with hosts: under TLS if the host offers it, and in clear text if TLS fails (opportunistic, RFC 7435),
 * unless the host, the recipient's domain, the lane or a password demands TLS. docs/delivery.md has the table.
 */

import { ExpiringMap } from "#platform/cache.ts";
import { isLoopback } from "#platform/network/public-address.ts";
import type { SmtpCredentials } from "#smtp-client/auth.ts";
import { tlsFaultOf } from "#smtp-client/greeting.ts";
import type { MailHost } from "#smtp-client/mx.ts";
import { type OpenResult, openSession, type SessionOptions } from "#smtp-client/session.ts";
import { requiresTls } from "#smtp-client/tls.ts";
import type { Transcript } from "#smtp-client/transcript.ts";
import type { Lane } from "./default-lanes.ts";

/** After a TLS failure a host is contacted in clear text for this time; then TLS is tried again. */
const CLEAR_TEXT_MS = 60 * 60_000;
/**
 * The time if the cause may be temporary: TLS timed out, as it does when this machine is busy; the server answered 421, as
 * it does when it is busy; or clear text failed, too. It is longer than the time until the first retry.
 */
const UNCERTAIN_MS = 10 * 60_000;
/** Hosts of one lane whose TLS failure is remembered. */
const MOST_REMEMBERED = 10_000;
/** Characters kept of the server's reply. */
const LONGEST_FAULT = 300;

export interface SessionSettings {
  readonly port: number;
  readonly ehloName: string;
  /** The chosen source address. Only host addresses of its family are tried. */
  readonly localAddress?: string;
  /** For a smart host: TLS from the first octet. */
  readonly implicitTls?: boolean;
  readonly credentials?: SmtpCredentials | undefined;
  readonly options?: Pick<SessionOptions, "deadlines" | "secureContext">;
}

/** The result of an attempt to open a session. */
export interface Opening {
  readonly result: OpenResult;
  /** Set when the attempt was in clear text because TLS had failed: why it failed. */
  readonly tlsFault: string | null;
}

interface TlsFault {
  readonly reason: string;
  /** A timeout, or a 421. */
  readonly isTemporary: boolean;
}

interface RememberedFault extends TlsFault {
  /** A session in clear text has been opened after the failure. */
  readonly isProven: boolean;
}

export class SessionOpener {
  readonly #lane: Lane;
  readonly #settings: SessionSettings;
  /** TLS failures, by host. */
  readonly #tlsFaults = new ExpiringMap<RememberedFault>(MOST_REMEMBERED);

  constructor(lane: Lane, settings: SessionSettings) {
    this.#lane = lane;
    this.#settings = settings;
  }

  /** Opens a session with one address of a host. The transcript records all tries. */
  async open(host: MailHost, address: string, transcript?: Transcript): Promise<Opening> {
    const { port, ehloName, localAddress, implicitTls, credentials, options } = this.#settings;
    const connect = { host: host.name, address, port, localAddress };
    const target = { ...connect, ehloName, credentials, transcript, ...options };
    if (implicitTls) return { result: await openSession({ ...target, tls: "implicit" }), tlsFault: null };
    const demander = this.#demanderOfTls(host, address);
    if (demander !== null) {
      const demand = requiresTls(host.tls) ? host.tls : undefined;
      const opened = await openSession({ ...target, tls: "required", demand });
      return { result: inDemandOf(demander, opened), tlsFault: null };
    }
    const known = this.#tlsFaults.get(host.name);
    if (known !== undefined) {
      transcript?.note(`without TLS, because TLS with ${host.name} failed before: ${known.reason}`);
      return this.#openInClearText(target, known, true);
    }
    const result = await openSession({ ...target, tls: "opportunistic" });
    if (result.outcome === "open" || !result.tlsFailed) return { result, tlsFault: null };
    const reason = tlsFaultOf(result).slice(0, LONGEST_FAULT).toWellFormed();
    transcript?.note("TLS failed: another connection, without TLS");
    const isTemporary = result.outcome === "broken" ? result.fault === "timeout" : result.code === 421;
    return this.#openInClearText(target, { reason, isTemporary }, false);
  }

  /** Forgets the TLS failure of a host. */
  tryTlsAgain(host: string): void {
    this.#tlsFaults.delete(host);
  }

  async #openInClearText(
    target: Omit<SessionOptions, "tls">,
    { reason, isTemporary }: TlsFault,
    wasRemembered: boolean,
  ): Promise<Opening> {
    const result = await openSession({ ...target, tls: "none" });
    const { host } = target;
    if (result.outcome !== "open" && wasRemembered) this.tryTlsAgain(host);
    else this.#remember(host, { reason, isTemporary, isProven: result.outcome === "open" });
    return { result, tlsFault: reason };
  }

  /**
   * Does not extend a failure that is remembered already. A host that fails in clear text, too, may allow only one connection
   * at a time, so the next attempt is made in clear text alone. If that fails as well, TLS is not the cause.
   */
  #remember(host: string, fault: RememberedFault): void {
    const known = this.#tlsFaults.get(host);
    const isCertain = fault.isProven && !fault.isTemporary;
    if (known === undefined || (isCertain && !known.isProven))
      this.#tlsFaults.set(host, fault, isCertain ? CLEAR_TEXT_MS : UNCERTAIN_MS);
  }

  /** What demands TLS with this host; null if clear text is allowed. */
  #demanderOfTls({ tls, isTlsRequired = false }: MailHost, address: string): string | null {
    if (requiresTls(tls)) return `${tls.by === "dane" ? "DANE" : "MTA-STS"} demands secure TLS`;
    if (this.#lane.tls_required || isTlsRequired) return "The lane demands TLS";
    const hasPassword = this.#settings.credentials !== undefined && !isLoopback(address);
    return hasPassword ? "The relay's password demands TLS" : null;
  }
}

/** Adds to a TLS failure what demanded TLS. */
function inDemandOf(demander: string, opened: OpenResult): OpenResult {
  if (opened.outcome !== "broken" || !opened.tlsFailed) return opened;
  return { ...opened, fault: "tls", reason: `${demander}: ${opened.reason}` };
}
