/**
 * Can people reach a tracking domain by HTTPS? Its record may be right and the proxy in front of the service still have no
 * certificate for the name: then every link of a mail ends at a warning. Only what a server answers is a fault. Nobody
 * answering is none: many networks do not lead to their own public address from within.
 */
import { connect } from "node:tls";
import { createResolver } from "#dns/system.ts";
import { connectionFault } from "#platform/network/connection-fault.ts";
import { isPublicAddress } from "#platform/network/public-address.ts";

const TIMEOUT_MS = 5_000;
const DNS = { timeoutMs: TIMEOUT_MS, tries: 4, isFresh: true };
/** Of what TLS says. */
const LONGEST_FAULT = 200;
/** The connection went, which says nothing of the certificate. */
const lost: ReadonlySet<string | undefined> = new Set(["ECONNRESET", "EPIPE"]);

export interface CertificateOptions {
  /** The operator's DNS_SERVERS. */
  readonly servers: readonly string[];
  readonly port?: number;
  /** Also on private and loopback addresses, which somebody else's name must not lead us to. */
  readonly allowPrivate?: boolean;
  /** Whom to trust; default: the roots that Node brings. */
  readonly ca?: string;
}

/** What came of one handshake. */
export type TlsProbeResult =
  | { readonly outcome: "trusted" }
  /** In TLS's words. */
  | { readonly outcome: "distrusted"; readonly reason: string }
  /** There is no such name, or it has no address. */
  | { readonly outcome: "nowhere" }
  /** Nobody told us, or nobody answered. */
  | { readonly outcome: "unreached"; readonly reason: string };

/** One handshake with the first address of a name; never rejects. */
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

/** What is wrong with the certificate that browsers get for a name, in TLS's words; null: nothing, or it cannot be told. */
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
  // Of the whole of it: who dribbles is never idle.
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
