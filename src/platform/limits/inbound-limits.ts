/** Limits on SMTP sessions, on submitted messages, and on received mail that waits to be processed. */
import { type Limit, MIB } from "./limit.ts";

export const inboundLimits = {
  returnsSessions: {
    what: "SMTP sessions on the inbound port",
    scope: "machine",
    most: 1_000,
    beyond: "The session that has been idle longest makes room; 421 4.7.0 while none has been idle for 5 s",
  },
  returnsSessionsPerNetwork: {
    what: "SMTP sessions on the inbound port",
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
    what: "messages of more than 256 KiB that wait for this",
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
    what: "mails to open addresses (all received data, including refused mails)",
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
      "552 5.3.4: at RCPT if MAIL declares the size, otherwise at the end of the message; a message that goes on for 4 MiB more ends the session",
  },
  refusedReportsPerDomain: {
    what: "rejected DMARC and TLS reports, listed with the reason",
    scope: "sending domain",
    most: 200,
    beyond: "the oldest are removed from the list",
  },
} as const satisfies Record<string, Limit>;
