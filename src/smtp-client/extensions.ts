/** The service extensions a server offers in its answer to EHLO (RFC 5321 section 4.1.1.1). */
import type { ServerReply } from "./reply-reader.ts";

/** The extensions that affect how we send. */
export interface Extensions {
  /** RFC 2920. */
  readonly pipelining: boolean;
  /** RFC 6152. */
  readonly eightBitMime: boolean;
  /** RFC 6531. */
  readonly smtpUtf8: boolean;
  /** RFC 3207. */
  readonly startTls: boolean;
  /** RFC 1870: null when not offered, 0 when offered without a limit, else octets. */
  readonly size: number | null;
  /** RFC 4954: the mechanisms in upper case. */
  readonly auth: readonly string[];
}

/**
 * Reads the positive reply to EHLO, whose first line is a greeting. The reply to HELO has only that line: no
 * extensions.
 */
export function parseExtensions(reply: ServerReply): Extensions {
  const offered = new Map(
    reply.lines.slice(1).map((line) => {
      // Servers older than RFC 4954 write "AUTH=LOGIN".
      const [keyword = "", ...parameters] = line
        .trim()
        .toUpperCase()
        .split(/[\s=]+/);
      return [keyword, parameters] as const;
    }),
  );
  const size = offered.get("SIZE")?.join(" ");
  return {
    pipelining: offered.has("PIPELINING"),
    eightBitMime: offered.has("8BITMIME"),
    smtpUtf8: offered.has("SMTPUTF8"),
    startTls: offered.has("STARTTLS"),
    size: size === undefined ? null : /^\d{1,15}$/.test(size) ? Number(size) : 0,
    auth: offered.get("AUTH") ?? [],
  };
}
