/**
 * Access to /metrics. With METRICS_TOKEN: callers that send it. Without, a caller on this machine; but where PUBLIC_URL is
 * set a proxy stands in front, whose requests come from this machine too, and then it is shown to none.
 */
import type { FastifyRequest } from "fastify";
import type { Config } from "#platform/config/config.ts";
import { bears } from "./access-token.ts";
import { isLocalCaller } from "./local-caller.ts";

export function metricsAccess({
  METRICS_TOKEN,
  PUBLIC_URL,
}: Pick<Config, "METRICS_TOKEN" | "PUBLIC_URL">): (request: FastifyRequest) => boolean {
  if (METRICS_TOKEN === null) return (request) => PUBLIC_URL === null && isLocalCaller(request.raw);
  return (request) => bears(request.headers, METRICS_TOKEN);
}
