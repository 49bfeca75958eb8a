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
  /** The window of a quota; without it, the limit is on what is held at one time. */
  readonly per?: "hour" | "day";
  /** What happens beyond it, for docs/limits.md. */
  readonly beyond: string;
}

const MIB = 1024 ** 2;

/** What clients may hold of this process over HTTP. Each API process counts for itself. */
export const httpLimits = {
  connectionsOfNetwork: {
    what: "HTTP connections",
    scope: "network",
    most: 1_000,
    beyond:
      "the network's connection that has been idle for longest is closed; when none is idle, the new one is. Trusted proxies are exempt",
  },
  unfinishedOfNetwork: {
    what: "requests whose body is still arriving",
    scope: "network",
    most: 500,
    beyond: "429",
  },
  unfinishedOfKey: {
    what: "requests whose body is still arriving",
    scope: "API key",
    most: 250,
    beyond: "429",
  },
  bodies: {
    what: "request bodies in memory",
    scope: "installation",
    most: 256 * MIB,
    unit: "bytes",
    beyond: "bodies that have stopped arriving are answered 408 and give their room back; then 503",
  },
  bodiesOfWorkspace: {
    what: "request bodies in memory",
    scope: "workspace",
    most: 64 * MIB,
    unit: "bytes",
    beyond: "the same, with 429",
  },
  bodiesOfNetwork: {
    what: "request bodies in memory of callers without a key",
    scope: "network",
    most: 4 * MIB,
    unit: "bytes",
    beyond: "the same, with 429",
  },
  uploads: {
    what: "uploads on disk",
    scope: "installation",
    most: 1024 * MIB,
    unit: "bytes",
    beyond: "uploads that have stopped arriving are answered 408 and give their room back; then 503",
  },
  uploadsOfWorkspace: {
    what: "uploads on disk",
    scope: "workspace",
    most: 256 * MIB,
    unit: "bytes",
    beyond: "the same, with 429",
  },
} as const satisfies Record<string, Limit>;

export const limits = { ...httpLimits } as const satisfies Record<string, Limit>;

export type LimitName = keyof typeof limits;
