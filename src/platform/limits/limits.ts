/**
 * The table of all limits on requests, connections, bodies, jobs and platform mail; docs/limits.md is generated from it.
 * `HeldShares` (in-process-shares.ts) counts what one process holds now, `takeQuota` (quota-store.ts) what all machines have
 * used in an hour or a day.
 */
import { httpLimits } from "./http-limits.ts";
import { inboundLimits } from "./inbound-limits.ts";
import { type Limit, MIB } from "./limit.ts";
import { platformMailLimits } from "./platform-mail-limits.ts";
import { signInLimits } from "./sign-in-limits.ts";

export const limits = {
  ...httpLimits,
  ...inboundLimits,
  ...platformMailLimits,
  ...signInLimits,
  messagesUnderWay: {
    what: "messages under way in one delivery process",
    scope: "workspace",
    most: 2_000,
    beyond:
      "its other messages wait in the queue; its campaigns and autoresponders have three quarters of this",
  },
  contentUnderWay: {
    what: "content of messages under way in one delivery process",
    scope: "workspace",
    most: 64 * MIB,
    unit: "bytes",
    beyond:
      "its other messages wait in the queue; its campaigns and autoresponders have three quarters of this",
  },
  lookUpsUnderWay: {
    what: "DNS look-ups under way in one process",
    scope: "machine",
    most: 250,
    beyond:
      "the others wait, which does not count towards their deadlines; a look-up without an answer for a second releases its slot",
  },
  addressesAsked: {
    what: "addresses of links and images that checks ask for",
    scope: "workspace",
    most: 5_000,
    per: "hour",
    beyond: "the check lists them in `unchecked`; addresses of the last five minutes do not count",
  },
  livenessLooks: {
    what: "calls of /healthz",
    scope: "network",
    most: 100,
    per: "second",
    beyond: "above bursts of twice as many, 429 with Retry-After; RATE_LIMIT=off also disables this limit",
  },
  healthLooks: {
    what: "calls of /readyz and /metrics together",
    scope: "network",
    most: 50,
    per: "second",
    beyond: "above bursts of twice as many, 429 with Retry-After; RATE_LIMIT=off also disables this limit",
  },
} as const satisfies Record<string, Limit>;

export type LimitName = keyof typeof limits;
