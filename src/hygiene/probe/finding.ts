/** The result of a probe for one local part. */
export interface ProbeFinding {
  /**
   * - `accepted`: the host would accept mail (250, 251), or only the mailbox is full.
   * - `rejected`: the host says with a permanent reply that there is no such mailbox.
   * - `greylisted`: refused for now (4xx); a later probe may be answered.
   * - `blocked`: the refusal is about us, or does not say that it is about the address.
   * - `timeout`: no answer within the deadline.
   * - `error`: no usable answer: no host to connect to, a broken session, or 252 ("cannot verify").
   * - `unaskable`: the address, unlike others of its domain, cannot be written in the commands of this host.
   * - `rate_limited`: no host was asked, because the rate limit for the provider left no time.
   * - `stopped`: the prober was closed before there was an answer.
   */
  readonly result:
    | "accepted"
    | "rejected"
    | "greylisted"
    | "blocked"
    | "timeout"
    | "error"
    | "unaskable"
    | "rate_limited"
    | "stopped";
  /** The code of the reply that decided; null when there was none. */
  readonly code: number | null;
  /** RFC 3463, such as "5.1.1". */
  readonly enhancedCode: string | null;
  /** The text of the reply, printable and at most 500 characters; or why there was no answer. */
  readonly message: string;
  /** The host that answered or was tried last; null when none was. */
  readonly mxHost: string | null;
  readonly port: number;
  /** Whether the answer came over TLS. */
  readonly tls: boolean;
  /** From the call to the last answer, the wait for the rate limit included. */
  readonly durationMs: number;
  /** Whether the catch-all test was made in the same session, with a clear answer. */
  readonly catchAllChecked: boolean;
  /** Whether the host accepts any local part; null when not checked. */
  readonly isCatchAll: boolean | null;
  /** The mailbox exists, and is full. */
  readonly isMailboxFull: boolean;
}
