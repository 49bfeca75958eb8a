/**
 * Checks that a tracking domain is reachable over HTTPS. Its DNS record may be right while the proxy in front of the
 * service has no certificate for the name: then each link of a mail ends in a warning. Only an answer counts as a
 * fault: from inside many networks their own public address cannot be reached.
 */
import { connect } from "node:tls";
import { createResolver } from "#dns/network-resolver.ts";
import { connectionFault } from "#platform/network/explain-connection-fault.ts";
import { isPublicAddress } from "#platform/network/public-address.ts";

const TIMEOUT_MS = 5_000;
const DNS = { timeoutMs: TIMEOUT_MS, tries: 4, isFresh: true };
/** Characters of the TLS error that are kept. */
const LONGEST_FAULT = 200;
/** A lost connection says nothing about the certificate. */
const lost: ReadonlySet<string | undefined> = new Set(["ECONNRESET", "EPIPE"]);

export interface CertificateOptions {
  /** The operator's DNS_SERVERS. */
  readonly servers: readonly string[];
  readonly port?: number;
  /** Whether to connect to private and loopback addresses; a customer's name must not make us do that. */
  readonly allowPrivate?: boolean;
  /** Trusted certificates; default: the roots of Node.js. */
  readonly ca?: string;
}

/** The result of a TLS handshake. */
export type TlsProbeResult =
  | { readonly outcome: "trusted" }
  /** The TLS error. */
  | { readonly outcome: "distrusted"; readonly reason: string }
  /** The name does not exist or has no address. */
  | { readonly outcome: "nowhere" }
  /** The DNS or the host did not answer. */
  | { readonly outcome: "unreached"; readonly reason: string };

/** A TLS handshake with the first address of a name; never rejects. */
export function createTlsProbe(options: CertificateOptions): (name: string) => Promise<TlsProbeResult> {
  const { servers, port = 443, allowPrivate = false, ca } = options;
  const resolver = createResolver({ servers, ...DNS });
  return async (name) => {
    const lookups = await Promise.all([resolver.ipv4(name), resolver.ipv6(name)]);
    const found = lookups.flatMap((lookup) => (lookup.outcome === "found" ? lookup.records : []));
    const [address] = found.filter((one) => allowPrivate || isPublicAddress(one));
    if (address !== undefined) {
      return shakeHands({ host: address, port, servername: name, ...(ca !== undefined && { ca }) });
    }
    const failed = lookups.find((lookup) => lookup.outcome === "failed");
    if (failed !== undefined) return { outcome: "unreached", reason: `DNS: ${failed.reason}` };
    return found.length === 0
      ? { outcome: "nowhere" }
      : { outcome: "unreached", reason: "no public address" };
  };
}

/** The TLS error that browsers get for a name; null when there is none, or when it cannot be determined. */
export type FindCertificateFault = (name: string) => Promise<string | null>;

export function createCertificateCheck(options: CertificateOptions): FindCertificateFault {
  const look = createTlsProbe(options);
  return async (name) => {
    const seen = await look(name);
    return seen.outcome === "distrusted" ? seen.reason : null;
  };
}

function shakeHands(target: { host: string; port: number; servername: string; ca?: string }) {
  const { promise, resolve } = Promise.withResolvers<TlsProbeResult>();
  let isConnected = false;
  const socket = connect(target);
  socket.once("connect", () => {
    isConnected = true;
  });
  socket.once("secureConnect", () => resolve({ outcome: "trusted" }));
  // The timeout covers the whole handshake: a slow sender is never idle.
  const timer = setTimeout(
    () => resolve({ outcome: "unreached", reason: `no answer within ${TIMEOUT_MS} ms` }),
    TIMEOUT_MS,
  );
  socket.once("error", (error: NodeJS.ErrnoException) => {
    const reason = connectionFault(error).slice(0, LONGEST_FAULT).toWellFormed();
    const isOfTls = isConnected && !lost.has(error.code);
    resolve({ outcome: isOfTls ? "distrusted" : "unreached", reason });
  });
  return promise.finally(() => {
    clearTimeout(timer);
    socket.destroy();
  });
}
