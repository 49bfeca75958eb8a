/**
 * What one holder of a shared resource may have: every limit on requests, connections, bodies, jobs and platform mail
 * stands in this table, from which docs/limits.md is generated. `HeldShares` (held-shares.ts) counts what is held at the
 * moment in one process, `takeQuota` (quota-store.ts) what is used in an hour or a day over all machines.
 */

/** Whose use is added up. A network is one IPv4 address or one IPv6 /64 (source-network.ts). */
export type Scope =
  | "installation"
  | "machine"
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

export const limits = {
  returnsSessions: {
    what: "SMTP sessions on the port for mail that comes back",
    scope: "machine",
    most: 1_000,
    beyond: "The session that has been idle longest makes room; 421 4.7.0 while none has been idle for 5 s",
  },
  returnsSessionsPerNetwork: {
    what: "SMTP sessions on the port for mail that comes back",
    scope: "network",
    most: 50,
    beyond: "421 4.7.0 when the session begins",
  },
  submissionSessions: {
    what: "SMTP sessions on the submission ports",
    scope: "machine",
    most: 1_000,
    beyond: "The session that has been idle longest makes room; 421 4.7.0 while none has been idle for 5 s",
  },
  submissionSessionsPerNetwork: {
    what: "SMTP sessions on the submission ports",
    scope: "network",
    most: 100,
    beyond: "421 4.7.0 when the session begins",
  },
  waitingSignedMails: {
    what: "mails to return paths and unsubscribe addresses that wait to be processed",
    scope: "installation",
    most: 20_000,
    beyond: "452 4.3.1 at the end of the message",
  },
  waitingSignedBytes: {
    what: "mails to return paths and unsubscribe addresses that wait to be processed",
    scope: "installation",
    most: 2 * 1024 ** 3,
    unit: "bytes",
    beyond: "452 4.3.1 at the end of the message",
  },
  waitingOpenMails: {
    what: "mails to open addresses that wait to be processed",
    scope: "installation",
    most: 20_000,
    beyond: "452 4.3.1 at the end of the message",
  },
  waitingOpenBytes: {
    what: "mails to open addresses that wait to be processed",
    scope: "installation",
    most: 1024 ** 3,
    unit: "bytes",
    beyond: "452 4.3.1 at the end of the message",
  },
  waitingMailsPerNetwork: {
    what: "mails to signed addresses, and as many to open ones, that wait to be processed",
    scope: "network",
    most: 5_000,
    beyond: "451 4.7.1 at the end of the message",
  },
  waitingBytesPerNetwork: {
    what: "mails to signed addresses, and as many to open ones, that wait to be processed",
    scope: "network",
    most: 512 * 1024 ** 2,
    unit: "bytes",
    beyond: "451 4.7.1 at the end of the message",
  },
  waitingMailsPerAddress: {
    what: "mails to one return path or unsubscribe address that wait to be processed",
    scope: "mailbox",
    most: 20,
    beyond: "451 4.7.1 at the end of the message",
  },
  openMailsPerNetwork: {
    what: "mails to open addresses",
    scope: "network",
    most: 2_000,
    per: "hour",
    beyond: "451 4.7.1 at RCPT",
  },
  openBytesPerNetwork: {
    what: "mails to open addresses (of each, what is stored)",
    scope: "network",
    most: 256 * 1024 ** 2,
    unit: "bytes",
    per: "hour",
    beyond: "451 4.7.1 at RCPT",
  },
} as const satisfies Record<string, Limit>;

export type LimitName = keyof typeof limits;
