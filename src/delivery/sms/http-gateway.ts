/**
 * The HTTP gateway: one POST of `{ id, to, from, text }` per message, as docs/sms.md describes. 2xx accepts the message; 429,
 * 5xx and no answer are temporary failures; every other answer is permanent. The id is the same for every attempt, so that the
 * gateway can recognize a repetition.
 */
import type { SmsResult } from "#delivery/message/attempt.ts";
import { fetchFault, readResponseText } from "#platform/network/read-response.ts";
import { declined, type ShortMessage, type SmsGateway } from "./gateway.ts";
import type { HttpSettings } from "./gateway-settings.ts";
import { encodeSmsText, MOST_PARTS } from "./sms-encoding.ts";

const ANSWER_MS = 30_000;
const LONGEST_ANSWER = 64 * 1024;
const QUOTED = 200;

/** @param receiptUrl the address at which the gateway posts the delivery receipt of a message */
export function createHttpGateway(
  settings: HttpSettings,
  receiptUrl: (message: ShortMessage) => string,
): SmsGateway {
  const { name, host, window, perSecond, hasReceipts, secret, source: from, url } = settings;
  const closing = new AbortController();
  return {
    name,
    host,
    window,
    perSecond,
    isAway: false,
    async submit(message, mayStart): Promise<SmsResult> {
      const { id, to, text } = message;
      if (encodeSmsText(text).parts > MOST_PARTS)
        return declined(`The text needs more than ${MOST_PARTS} SMS`, false);
      if (!mayStart()) return { outcome: "withdrawn" };
      const body = { id, to, from, text, ...(hasReceipts && { receipt_url: receiptUrl(message) }) };
      try {
        const response = await fetch(url, {
          method: "POST",
          headers: {
            "Content-Type": "application/json",
            "Idempotency-Key": id,
            ...(secret !== null && { Authorization: `Bearer ${secret}` }),
          },
          body: JSON.stringify(body),
          redirect: "manual",
          signal: AbortSignal.any([AbortSignal.timeout(ANSWER_MS), closing.signal]),
        });
        const answer = await readResponseText(response, LONGEST_ANSWER);
        return readAnswer(response, answer.text, hasReceipts ? id : null);
      } catch (error) {
        return declined(`no answer: ${fetchFault(error)} (the SMS may have been accepted)`, true);
      }
    },
    close: () => closing.abort(),
  };
}

function readAnswer(response: Response, text: string, receiptId: string | null): SmsResult {
  const { status } = response;
  if (response.ok) {
    const id = idIn(text);
    return {
      outcome: "accepted",
      receiptId,
      reason: `accepted by the SMS gateway${id === null ? "" : ` as ${id}`}`,
    };
  }
  const reason = `HTTP ${status} ${text.replaceAll(/[\s\0]+/g, " ").slice(0, QUOTED)}`.trim();
  const seconds = Number(response.headers.get("retry-after"));
  const waitSeconds = Number.isFinite(seconds) && seconds > 0 ? seconds : null;
  return declined(reason, status === 408 || status === 429 || status >= 500, {
    waitSeconds,
    isThrottled: status === 429,
  });
}

function idIn(text: string): string | null {
  try {
    const answer: unknown = JSON.parse(text);
    const id = typeof answer === "object" && answer !== null && "id" in answer ? answer.id : null;
    return typeof id === "string" || typeof id === "number"
      ? String(id).replaceAll("\0", "").slice(0, QUOTED)
      : null;
  } catch {
    return null;
  }
}
