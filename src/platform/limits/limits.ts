/**
 * What one holder of a shared resource may have: every limit on requests, connections, bodies, jobs and platform mail
 * stands in this table, from which docs/limits.md is generated. `HeldShares` (held-shares.ts) counts what is held at the
 * moment in one process, `takeQuota` (quota-store.ts) what is used in an hour or a day over all machines.
 */

/** Whose use is added up. A network is one IPv4 address or one IPv6 /64 (source-network.ts). */
export type Scope =
  | "installation"
  | "workspace"
  | "API key"
  | "network"
  | "mailbox"
  | "mailing list"
  | "sign-up form";

export interface Limit {
  /** What is counted, in the plural, as it stands in a refusal: "unfinished requests". */
  readonly what: string;
  readonly scope: Scope;
  readonly most: number;
  /** `most` is in bytes; a count otherwise. */
  readonly unit?: "bytes";
  /** The window of a quota or a rate; without it, the limit is on what is held at one time. */
  readonly per?: "second" | "hour" | "day";
  /** What happens beyond it, for docs/limits.md. */
  readonly beyond: string;
}

export const limits = {
  healthLooks: {
    what: "calls of /readyz and /metrics together",
    scope: "network",
    most: 50,
    per: "second",
    beyond:
      "Beyond bursts of twice as many they are answered 429 with Retry-After. RATE_LIMIT=off switches it off, too.",
  },
} as const satisfies Record<string, Limit>;

export type LimitName = keyof typeof limits;
