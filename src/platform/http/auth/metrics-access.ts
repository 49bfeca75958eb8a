/**
 * Access to /metrics: with METRICS_TOKEN, callers that send it; without, callers on this machine. If PUBLIC_URL is set, there
 * is probably a proxy, whose requests also come from this machine, so access then needs the token.
 */
import type { FastifyRequest } from "fastify";
import type { Config } from "#platform/config/config.ts";
import { isLoopback } from "#platform/network/public-address.ts";
import { bears } from "./operator-page-token.ts";

export function metricsAccess({
  METRICS_TOKEN,
  PUBLIC_URL,
}: Pick<Config, "METRICS_TOKEN" | "PUBLIC_URL">): (request: FastifyRequest) => boolean {
  if (METRICS_TOKEN === null) return (request) => PUBLIC_URL === null && isLocalCaller(request.raw);
  return (request) => bears(request.headers, METRICS_TOKEN);
}

const forwarding = /^(?:forwarded|x-forwarded-.+|x-real-ip|via)$/;
const ownHost = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;

/**
 * Whether the request comes from a program or browser on this machine: its peer is a loopback address, no header says that a
 * proxy passed it on, and its Host is this machine. The Host is checked because a web page can make its name resolve to
 * 127.0.0.1 and let the visitor's browser send requests to us (DNS rebinding). A local proxy that adds no header cannot be
 * told apart, so this must not protect what a proxy could pass on.
 */
function isLocalCaller({ socket, headers }: FastifyRequest["raw"]): boolean {
  return (
    isLoopback(socket.remoteAddress ?? "") &&
    ownHost.test(headers.host ?? "") &&
    !Object.keys(headers).some((name) => forwarding.test(name))
  );
}
