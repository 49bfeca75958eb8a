/**
 * How long each step of an SMTP conversation may take, in milliseconds. A deadline starts when the command is the next
 * one to be answered and ends with the last line of its reply. A peer that sends one byte a second does not extend it.
 */
export interface SmtpDeadlines {
  readonly connect: number;
  readonly banner: number;
  readonly ehlo: number;
  /** Applies to the reply to STARTTLS, and again to the handshake. */
  readonly starttls: number;
  /** The first reply after STARTTLS and the handshake. */
  readonly ehloUnderTls: number;
  readonly auth: number;
  readonly mail: number;
  readonly rcpt: number;
  readonly data: number;
  /** One block of a large body, until the kernel has taken it. */
  readonly block: number;
  readonly dot: number;
  readonly reset: number;
  readonly quit: number;
}

/**
 * RFC 5321 section 4.5.3.2, except for the first steps: a host that needs more than a minute for its banner counts as
 * down, so that the next MX is tried.
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

/** Limit of each TLS step if clear text is allowed: if a host hangs in such a step, it is tried again without TLS. */
const OPTIONAL_TLS_MS = 15_000;

/** The deadlines of a session with opportunistic TLS. */
export function withOptionalTls(deadlines: SmtpDeadlines): SmtpDeadlines {
  return {
    ...deadlines,
    starttls: Math.min(deadlines.starttls, OPTIONAL_TLS_MS),
    ehloUnderTls: Math.min(deadlines.ehloUnderTls, OPTIONAL_TLS_MS),
  };
}
