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
  | "message"
  | "API key"
  | "connection"
  | "network"
  | "mailbox"
  | "workspace and mailbox"
  | "mailing list"
  | "sending domain"
  | "sign-up form"
  | "network and sign-up form"
  | "form page";

export interface Limit {
  /** What is counted, in the plural, as it stands in a refusal: "unfinished requests". */
  readonly what: string;
  readonly scope: Scope;
  readonly most: number;
  /** `most` is in bytes; a count otherwise. */
  readonly unit?: "bytes";
  /** The window of a quota or a rate; without it, the limit is on what is held at one time. */
  readonly per?: "second" | "minute" | "hour" | "day";
  /** What happens beyond it, for docs/limits.md. */
  readonly beyond: string;
}

const MIB = 1024 * 1024;

/** What clients may hold of this process over HTTP. Each API process counts for itself. */
export const httpLimits = {
  connectionsOfNetwork: {
    what: "HTTP connections",
    scope: "network",
    most: 1_000,
    beyond:
      "the network's connection that has been idle for longest is closed; when none is idle, the new one is. Trusted proxies are exempt",
  },
  unansweredOfConnection: {
    what: "HTTP requests that wait for their answers",
    scope: "connection",
    most: 8,
    beyond: "these are answered, the next one is answered 429, and the connection is closed",
  },
  refusalsOfConnection: {
    what: "answers with 429",
    scope: "connection",
    most: 10,
    beyond: "the connection is closed with the last of them. Trusted proxies are exempt",
  },
  unsent: {
    what: "large answers that their clients have not read",
    scope: "installation",
    most: 128 * MIB,
    unit: "bytes",
    beyond: "connections that have read nothing for five seconds are closed; then 503",
  },
  unsentOfNetwork: {
    what: "large answers that their clients have not read",
    scope: "network",
    most: 16 * MIB,
    unit: "bytes",
    beyond: "the same, with 429",
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

/** The limits in force: those of the table, or a test's own. */
export type HttpLimits = Readonly<Record<keyof typeof httpLimits, Limit>>;

export const limits = {
  ...httpLimits,
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
  largeSubmissions: {
    what: "messages of more than 256 KiB that are read and stored after their final dot in one process",
    scope: "workspace",
    most: 1,
    beyond: "its other large messages wait, and small ones overtake them; after 20 s 451 4.7.1",
  },
  largeSubmissionsWaiting: {
    what: "messages of more than 256 KiB that wait for that",
    scope: "workspace",
    most: 50,
    beyond: "451 4.7.1 at the end of the message",
  },
  submittedParts: {
    what: "MIME parts of a message handed in over SMTP",
    scope: "message",
    most: 1_000,
    beyond: "554 5.6.0 at the end of the message",
  },
  submittedDepth: {
    what: "levels of multiparts in a message handed in over SMTP",
    scope: "message",
    most: 20,
    beyond: "554 5.6.0 at the end of the message",
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
    most: 2 * 1024 * MIB,
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
    most: 1024 * MIB,
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
    most: 512 * MIB,
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
    what: "mails to open addresses (all that is received, refused mails included)",
    scope: "network",
    most: 256 * MIB,
    unit: "bytes",
    per: "hour",
    beyond: "451 4.7.1 at RCPT",
  },
  openMailBytes: {
    what: "mail to an open address",
    scope: "message",
    most: 14 * MIB,
    unit: "bytes",
    beyond:
      "552 5.3.4: at RCPT where MAIL names the size, otherwise at the end of the message; a message that goes on for 4 MiB more ends the session",
  },
  refusedReportsPerDomain: {
    what: "DMARC and TLS reports that were put aside, listed with the reason",
    scope: "sending domain",
    most: 200,
    beyond: "the oldest are taken off the list",
  },
  signupsOfNetworkAtForm: {
    what: "sign-ups",
    scope: "network and sign-up form",
    most: 20,
    per: "hour",
    beyond: "the form answers 429 with a page that says so",
  },
  signupsOfNetwork: {
    what: "sign-ups at all forms together",
    scope: "network",
    most: 60,
    per: "hour",
    beyond: "the form answers 429 with a page that says so",
  },
  signupsOfNetworkInDay: {
    what: "sign-ups at all forms together",
    scope: "network",
    most: 200,
    per: "day",
    beyond: "the form answers 429 with a page that says so",
  },
  signupsOfList: {
    what: "sign-ups",
    scope: "mailing list",
    most: 200,
    per: "hour",
    beyond: "the form answers 429 with a page that says so, and its owner is told",
  },
  signupsOfFormPage: {
    what: "sign-ups",
    scope: "form page",
    most: 3,
    per: "day",
    beyond: "the form is shown again, filled in",
  },
  signupMailsOfWorkspace: {
    what: "sign-up mails from the sender of the service",
    scope: "workspace",
    most: 1_000,
    per: "day",
    beyond: "the forms answer 429 with a page that says so, and their owner is told",
  },
  ownSignupMailsOfWorkspace: {
    what: "sign-up mails from a sender of the workspace",
    scope: "workspace",
    most: 10_000,
    per: "day",
    beyond: "the forms answer 429 with a page that says so, and their owner is told",
  },
  signupMailsOfWorkspaceToMailbox: {
    what: "sign-up mails that were not confirmed",
    scope: "workspace and mailbox",
    most: 1,
    per: "day",
    beyond: "the page is the same, and no mail is sent",
  },
  signupMailsToMailbox: {
    what: "sign-up mails of all workspaces that were not confirmed",
    scope: "mailbox",
    most: 3,
    per: "day",
    beyond: "the page is the same, and no mail is sent",
  },
  formAbuseNotices: {
    what: "`form.abused` events",
    scope: "sign-up form",
    most: 1,
    per: "hour",
    beyond: "the form's `abuse` is kept up to date, and no event is sent",
  },
  senderConfirmationsOfWorkspace: {
    what: "confirmation links for verified senders",
    scope: "workspace",
    most: 100,
    per: "day",
    beyond: "429",
  },
  senderConfirmationsToMailbox: {
    what: "confirmation links for verified senders",
    scope: "mailbox",
    most: 5,
    per: "day",
    beyond: "429",
  },
  senderConfirmationsOfWorkspaceToMailbox: {
    what: "confirmation links for verified senders",
    scope: "workspace and mailbox",
    most: 1,
    per: "minute",
    beyond: "429; the first resend of a link goes out at once",
  },
  bounceCopiesOfWorkspace: {
    what: "copies of bounces",
    scope: "workspace",
    most: 1_000,
    per: "day",
    beyond: "no copy is sent; the bounce is recorded as always",
  },
  bounceCopiesToMailbox: {
    what: "copies of bounces",
    scope: "mailbox",
    most: 100,
    per: "day",
    beyond: "no copy is sent; the bounce is recorded as always",
  },
  listingNoticesOfWorkspace: {
    what: "notices of blacklist listings",
    scope: "workspace",
    most: 200,
    per: "day",
    beyond: "no mail is sent; the monitor shows the listing, and webhooks hear of it",
  },
  listingNoticesToMailbox: {
    what: "notices of blacklist listings",
    scope: "mailbox",
    most: 500,
    per: "day",
    beyond: "no mail is sent; the monitor shows the listing, and webhooks hear of it",
  },
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
      "the others wait their turn, which does not count towards their deadlines; a look-up whose servers have been silent for a second leaves its place to others",
  },
  livenessLooks: {
    what: "calls of /healthz",
    scope: "network",
    most: 100,
    per: "second",
    beyond:
      "Beyond bursts of twice as many they are answered 429 with Retry-After. RATE_LIMIT=off switches it off, too.",
  },
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
