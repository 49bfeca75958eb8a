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

const MIB = 1024 * 1024;

export const limits = {
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
} as const satisfies Record<string, Limit>;

export type LimitName = keyof typeof limits;
