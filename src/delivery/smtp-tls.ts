/** TLS on an SMTP connection, after the server has agreed to STARTTLS (RFC 3207). */
import { isIP, type Socket } from "node:net";
import { connect, createSecureContext, type SecureContext, type TLSSocket } from "node:tls";
import type { Fault } from "./smtp-outcome.ts";

/** What protects a session. */
export interface TlsOutcome {
  /** Such as "TLSv1.3". */
  readonly protocol: string;
  readonly cipher: string;
  /** The certificate is valid now, for the name asked, and leads to a trusted root. */
  readonly verified: boolean;
}

export interface TlsTarget {
  /** The name the certificate must bear to be `verified`; also sent as SNI unless it is an address. */
  readonly servername: string;
  /** Whom to trust; default: the roots that Node brings. */
  readonly secureContext?: SecureContext | undefined;
}

let publicRoots: SecureContext | undefined;

/**
 * Shakes hands over a connected socket, which belongs to the returned one from then on. An unverifiable certificate
 * does not fail the handshake: without MTA-STS or DANE encryption to whoever answers is better than clear text, and
 * a caller with a stricter policy reads `verified`.
 */
export function shakeHands(
  socket: Socket,
  target: TlsTarget,
  deadline: number,
): Promise<{ readonly socket: TLSSocket; readonly tls: TlsOutcome } | Fault> {
  // Reading the root certificates takes milliseconds, so all sessions share one context.
  publicRoots ??= createSecureContext({ minVersion: "TLSv1.2" });
  const secured = connect({
    socket,
    secureContext: target.secureContext ?? publicRoots,
    rejectUnauthorized: false,
    ...(isIP(target.servername) ? { host: target.servername } : { servername: target.servername }),
  });
  return new Promise((resolve) => {
    const fail = (fault: Fault["fault"], reason: string) => {
      clearTimeout(timer);
      secured.destroy();
      resolve({ fault, reason });
    };
    const timer = setTimeout(() => fail("timeout", `no TLS handshake within ${deadline} ms`), deadline);
    secured.on("error", (error) => fail("tls", `TLS handshake: ${error.message.trim()}`));
    secured.on("close", () => fail("tls", "connection closed during the TLS handshake"));
    secured.once("secureConnect", () => {
      clearTimeout(timer);
      const tls = {
        protocol: secured.getProtocol() ?? "unknown",
        cipher: secured.getCipher().name,
        verified: secured.authorized,
      };
      resolve({ socket: secured, tls });
    });
  });
}
