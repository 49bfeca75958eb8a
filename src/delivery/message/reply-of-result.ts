/** The reply that decided an attempt, as timelines and the operator's status show it. */
import { quoteAnswer } from "#smtp-client/reply-reader.ts";
import type { AttemptResult } from "./attempt.ts";

/** RFC 3463: "cryptographic failure". */
const TLS_FAULT = "4.7.5";

export interface DecidingReply {
  /** SMTP reply code; null without a reply. */
  readonly code: number | null;
  /** Enhanced code (RFC 3463). */
  readonly enhanced: string | null;
  /** The reply, or why there was none. */
  readonly text: string;
}

export function replyOf(result: AttemptResult): DecidingReply {
  switch (result.outcome) {
    case "accepted":
    case "refused":
      return { code: result.code, enhanced: result.enhanced, text: quoteAnswer(result) };
    case "unroutable":
      return { code: null, enhanced: result.enhanced, text: result.reason };
    case "broken":
      return {
        code: null,
        enhanced: result.fault === "tls" ? TLS_FAULT : null,
        text: `${result.reason} (at ${result.stage})`,
      };
  }
}
