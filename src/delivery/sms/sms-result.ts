/**
 * What an attempt to hand over a short message comes to. One that is taken is over for the queue; until its receipt
 * comes it shows as deferred, without a next attempt.
 */

import type { LeasedMessage } from "#delivery/message.ts";
import { type Conclusion, finish, putOff } from "#delivery/queue/delivery-result.ts";
import { unclassified } from "#messages/message/outcome.ts";
import type { SmsGateway, SmsResult } from "./gateway.ts";

const nothing = { ...unclassified, code: null, enhancedCode: null, isAddressFault: false };

export type SmsAttempt = Extract<SmsResult, { outcome: "taken" | "declined" }>;

export function concludeSms(
  message: LeasedMessage,
  result: SmsAttempt,
  { name, host }: Pick<SmsGateway, "name" | "host">,
  now: Date,
  random: number,
): Conclusion {
  const news = { ...nothing, mxHost: host, detail: result.reason };
  if (result.outcome === "declined") {
    if (!result.mayRetry) return finish(message, now, { ...news, status: "failed" });
    return putOff(message, now, news, { waitSeconds: result.waitSeconds, random });
  }
  const { receiptId } = result;
  if (receiptId === null) return finish(message, now, { ...news, status: "delivered" });
  const taken = finish(message, now, { ...news, status: "deferred" });
  return { ...taken, submission: { gateway: name, gatewayId: receiptId } };
}

/** Nobody carries SMS here (any more): it waits for a gateway as long as for one that cannot be reached. */
export function concludeUncarried(message: LeasedMessage, now: Date, random: number): Conclusion {
  const news = { ...nothing, mxHost: null, detail: "No SMS gateway is configured" };
  return putOff(message, now, news, { waitSeconds: null, random });
}
