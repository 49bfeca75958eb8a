/** TLS on an SMTP connection, after the server has accepted STARTTLS (RFC 3207). */
import type { X509Certificate } from "node:crypto";
import { isIP, type Socket } from "node:net";
import { connect, createSecureContext, type SecureContext, type TLSSocket } from "node:tls";
import { matchesTlsa, type TlsaRecord } from "#mail/dns/dane.ts";
import { connectionFault } from "#platform/network/explain-connection-fault.ts";
import type { SmtpFault } from "./outcome.ts";

/** Protocol and verification of a TLS session. */
export interface TlsOutcome {
  /** Such as "TLSv1.3". */
  readonly protocol: string;
  readonly cipher: string;
  /** The certificate is valid now, for the requested name, and has a trusted root; or it matches DANE records. */
  readonly verified: boolean;
}

/**
 * What the recipient's domain demands of TLS with one of its hosts. `dane`: the host with the TLSA records; without
 * usable records TLS with any certificate is demanded (RFC 7672 section 2.2). `mta-sts-testing` demands nothing; the
 * timeline notes whether the policy would have been met.
 */
export type TlsDemand =
  | { readonly by: "dane"; readonly host: string; readonly records: readonly TlsaRecord[] }
  | { readonly by: "mta-sts" }
  | { readonly by: "mta-sts-testing"; readonly isNamed: boolean };

/** Whether a session must not be used unless this demand is met. */
export function requiresTls(demand: TlsDemand | undefined): demand is TlsDemand {
  return demand !== undefined && demand.by !== "mta-sts-testing";
}

/**
 * The TLS note in the timeline of a message.
 *
 * @param tlsFault why TLS with the host failed, if the session is therefore in clear text
 */
export function tlsNote(
  tls: TlsOutcome | null,
  demand: TlsDemand | undefined,
  tlsFault: string | null,
): TlsNote {
  const verified = tls?.verified ?? false;
  const isMet = demand?.by === "mta-sts-testing" ? verified && demand.isNamed : true;
  return {
    version: tls?.protocol ?? null,
    cipher: tls?.cipher ?? null,
    verified,
    policy: demand?.by ?? null,
    policy_met: demand === undefined ? null : isMet,
    ...(tls === null && { clear_text_reason: tlsFault ?? "STARTTLS is not offered" }),
  };
}

/** The name, roots and demand that a certificate is checked against. */
export interface TlsTarget {
  /** The name that the certificate must have to be `verified`; also sent as SNI unless it is an IP address. */
  readonly servername: string;
  /** The trusted roots; default: those of Node.js. */
  readonly secureContext?: SecureContext | undefined;
  /** If it is not met, the handshake fails. */
  readonly demand?: TlsDemand | undefined;
}

let publicRoots: SecureContext | undefined;

/**
 * Runs the TLS handshake over a connected socket; the returned socket replaces it. Without a demand an unverified
 * certificate does not fail the handshake: encryption without authentication is better than clear text.
 */
export function tlsHandshake(
  socket: Socket,
  target: TlsTarget,
  deadline: number,
): Promise<{ readonly socket: TLSSocket; readonly tls: TlsOutcome } | SmtpFault> {
  const servername = nameOf(target);
  // Reading the root certificates takes milliseconds, so all sessions share one context.
  publicRoots ??= createSecureContext({ minVersion: "TLSv1.2" });
  const secured = connect({
    socket,
    secureContext: target.secureContext ?? publicRoots,
    rejectUnauthorized: false,
    ...(isIP(servername) ? { host: servername } : { servername }),
  });
  return new Promise((resolve) => {
    const fail = (fault: SmtpFault) => {
      clearTimeout(timer);
      secured.destroy();
      resolve(fault);
    };
    const timer = setTimeout(() => fail(handshakeFault("timeout", "it did not end in time")), deadline);
    secured.on("error", (error) => fail(handshakeFault("tls", connectionFault(error))));
    secured.on("close", () => fail(handshakeFault("tls", "the server closed the connection")));
    secured.once("secureConnect", () => {
      const verdict = checkCertificate(secured, target);
      if ("unmet" in verdict) return fail({ fault: "tls", reason: verdict.unmet });
      clearTimeout(timer);
      const tls = {
        protocol: secured.getProtocol() ?? "unknown",
        cipher: secured.getCipher().name,
        verified: verdict.verified,
      };
      resolve({ socket: secured, tls });
    });
  });
}

/** @param why one clause */
export function handshakeFault(fault: "tls" | "timeout", why: string): SmtpFault {
  return { fault, reason: `TLS handshake failed: ${why}` };
}

/** RFC 7672 sections 3.2 and 8.1: with DANE the reference identifier is the name that has the TLSA records. */
function nameOf({ demand, servername }: TlsTarget): string {
  return demand?.by === "dane" ? demand.host : servername;
}

function checkCertificate(
  socket: TLSSocket,
  target: TlsTarget,
): { readonly verified: boolean } | { readonly unmet: string } {
  const { demand } = target;
  const name = nameOf(target);
  const isTrusted = socket.authorized;
  switch (demand?.by) {
    case "mta-sts": {
      if (isTrusted) return { verified: true };
      return { unmet: `the certificate of ${name} is not valid: ${certificateFault(socket)}` };
    }
    case "dane": {
      if (demand.records.length === 0) return { verified: isTrusted };
      const isVouchedFor = matchesTlsa(demand.records, chainOf(socket), { host: name, at: new Date() });
      return isVouchedFor
        ? { verified: true }
        : { unmet: `the certificate of ${name} is not what its TLSA records say` };
    }
    default:
      return { verified: isTrusted };
  }
}

/** Common certificate errors by the codes of Node.js and OpenSSL. */
const CERTIFICATE_FAULTS: ReadonlyMap<string, string> = new Map([
  ["ERR_TLS_CERT_ALTNAME_INVALID", "it is for another name"],
  ["CERT_HAS_EXPIRED", "it has expired"],
  ["CERT_NOT_YET_VALID", "it is not valid yet"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "it is self-signed"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "its issuer is self-signed and not trusted"],
  ["UNABLE_TO_GET_ISSUER_CERT", "no trusted issuer is known"],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "no trusted issuer is known"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "no trusted issuer is known"],
]);

function certificateFault({ authorizationError }: TLSSocket): string {
  const code = String(authorizationError);
  return `${CERTIFICATE_FAULTS.get(code) ?? "it cannot be verified"} (${code})`;
}

const LONGEST_CHAIN = 10;

/** The chain that the server sent, its own certificate first. */
function chainOf(socket: TLSSocket): X509Certificate[] {
  const chain: X509Certificate[] = [];
  let next = socket.getPeerX509Certificate();
  while (next !== undefined && chain.length < LONGEST_CHAIN) {
    chain.push(next);
    next = next.issuerCertificate;
  }
  return chain;
}

/** TLS of the conversation about a message, as the timeline of the message shows it. */
export interface TlsNote {
  /** Such as "TLSv1.3"; null in clear text. */
  readonly version: string | null;
  readonly cipher: string | null;
  /** The certificate was valid for the host, or matched DANE records. */
  readonly verified: boolean;
  /** The policy that applied; "mta-sts-testing" only reports. */
  readonly policy: "dane" | "mta-sts" | "mta-sts-testing" | null;
  /** Null if there was no policy. */
  readonly policy_met: boolean | null;
  /** Why the session was in clear text. */
  readonly clear_text_reason?: string;
}
