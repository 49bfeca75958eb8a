/**
 * Tells a program or browser on this machine from others, as far as that is possible: a proxy on this machine that adds
 * no header looks the same, so this alone opens nothing that a proxy could pass on (metrics-access.ts).
 *
 * Three things must hold. The socket's peer is a loopback address. No proxy says that it passed the request on, since
 * behind a proxy everybody comes from loopback. And the Host is this machine's own: a page on the Internet can make
 * its name resolve to 127.0.0.1 and have the visitor's browser ask us in that name (DNS rebinding).
 */
import type { FastifyRequest } from "fastify";
import { isLoopback } from "#platform/network/public-address.ts";

const forwarding = /^(?:forwarded|x-forwarded-.+|x-real-ip|via)$/;
const ownHost = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;

export function isLocalCaller({ socket, headers }: FastifyRequest["raw"]): boolean {
  return (
    isLoopback(socket.remoteAddress ?? "") &&
    ownHost.test(headers.host ?? "") &&
    !Object.keys(headers).some((name) => forwarding.test(name))
  );
}
