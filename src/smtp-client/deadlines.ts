/**
 * How long each step of an SMTP conversation may take, in milliseconds. A deadline runs from the moment our command
 * is the next to be answered to the last line of its reply; a peer that dribbles a byte a second does not extend it.
 */
export interface SmtpDeadlines {
  readonly connect: number;
  readonly banner: number;
  readonly ehlo: number;
  /** The reply to STARTTLS, and once more the handshake. */
  readonly starttls: number;
  /** The first reply under TLS after STARTTLS. */
  readonly ehloUnderTls: number;
  readonly auth: number;
  readonly mail: number;
  readonly rcpt: number;
  readonly data: number;
  /** One piece of a large body, until the kernel has taken it. */
  readonly block: number;
  readonly dot: number;
  readonly reset: number;
  readonly quit: number;
}

/**
 * RFC 5321 section 4.5.3.2, but for the first steps: a host that needs more than a minute to greet is as good as
 * down, and the next MX is waiting.
 */
export const standardDeadlines: SmtpDeadlines = {
  connect: 60_000,
  banner: 60_000,
  ehlo: 60_000,
  starttls: 60_000,
  ehloUnderTls: 60_000,
  auth: 60_000,
  mail: 300_000,
  rcpt: 300_000,
  data: 120_000,
  block: 180_000,
  dot: 600_000,
  reset: 60_000,
  quit: 5_000,
};

/** Of each step of TLS where clear text would do: a host that hangs in one of them is asked without TLS. */
const OPTIONAL_TLS_MS = 15_000;

/** The deadlines of a session that may do without TLS. */
export function withOptionalTls(deadlines: SmtpDeadlines): SmtpDeadlines {
  return {
    ...deadlines,
    starttls: Math.min(deadlines.starttls, OPTIONAL_TLS_MS),
    ehloUnderTls: Math.min(deadlines.ehloUnderTls, OPTIONAL_TLS_MS),
  };
}
