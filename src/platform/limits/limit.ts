/** One limit on a shared resource. The table of all limits is limits.ts. */

/** The holder whose use is counted. A network is one IPv4 address or one IPv6 /64 (source-network.ts). */
export type LimitScope =
  | "installation"
  | "machine"
  | "workspace"
  | "message"
  | "API key or session"
  | "API key or person"
  | "connection"
  | "network"
  | "mailbox"
  | "workspace and mailbox"
  | "mailing list"
  | "sending domain"
  | "sign-up form"
  | "network and sign-up form"
  | "form page"
  | "account"
  | "session"
  | "browser"
  | "share link"
  | "network and share link";

export interface Limit {
  /** The thing counted, in the plural, as error messages name it: "unfinished requests". */
  readonly what: string;
  readonly scope: LimitScope;
  readonly most: number;
  /** `most` is in bytes; a count otherwise. */
  readonly unit?: "bytes";
  /** The window of a quota or a rate; without it, the limit is on what is held at one time. */
  readonly per?: "second" | "minute" | "15 minutes" | "hour" | "day";
  /** What happens above the limit, for docs/limits.md. */
  readonly beyond: string;
}

/** Bytes in a mebibyte. */
export const MIB = 1024 * 1024;
