/** What one local part's question came to. */
export interface ProbeFinding {
  /**
   * - `accepted`: the host would take mail (250, 251), or only the mailbox is full.
   * - `rejected`: the host says for good that there is no such mailbox.
   * - `greylisted`: refused for now (4xx); a later question may be answered.
   * - `blocked`: the refusal is about us, or does not say that it is about the address.
   * - `timeout`: no answer within the deadline.
   * - `error`: no usable answer: no host to connect to, a broken conversation, or 252 ("cannot verify").
   * - `unaskable`: the address, unlike others of its domain, cannot be written in the commands of this host.
   * - `no_turn`: no host was asked, because our turn at the provider did not come in time.
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
    | "no_turn"
    | "stopped";
  /** Of the reply that decided; null when there was none. */
  readonly code: number | null;
  /** RFC 3463, "5.1.1". */
  readonly enhancedCode: string | null;
  /** What the host said, printable and at most 500 characters; or why there was no answer. */
  readonly message: string;
  /** The host that answered or was tried last; null when none was. */
  readonly mxHost: string | null;
  readonly port: number;
  /** Whether the answer came over TLS. */
  readonly tls: boolean;
  /** From the question to the last answer, the wait for our turn included. */
  readonly durationMs: number;
  /** Whether a local part that no mailbox has was asked in the same session, with a clear answer. */
  readonly catchAllChecked: boolean;
  /** Null when not checked. */
  readonly isCatchAll: boolean | null;
  /** The mailbox exists, and is full. */
  readonly isMailboxFull: boolean;
}
