/** From a stored mail to what it changes: by what its recipient stands for, never by who it says it is from. */

import type { NewsReading, Reading } from "#inbound/reading/parse-mail.ts";
import { processed, quarantined, type Settled } from "#inbound/reading/settled.ts";
import { takeReports, takeUnreadable } from "#inbound/reports/take-reports.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { type OnUnsubscribed, unsubscribe } from "#tracking/unsubscribe.ts";
import { type NewsDeps, settleBounce } from "./bounced.ts";
import { complainedMessage, settleComplaint } from "./complained.ts";
import { type AddressDeps, readReturnedAddress, signedMessage } from "./returned-address.ts";
import type { InboundMail } from "./store.ts";

export interface ReadDeps extends AddressDeps, NewsDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly onUnsubscribed: OnUnsubscribed;
  readonly reading: Reading;
}

/** Writes down what a mail means, in the transaction that ends it. */
export type Settle = (tx: Queryable) => Promise<Settled>;

const unreadable = {
  too_slow: "it takes too long to read",
  too_large: "it takes too much memory to read",
};

const settled =
  (end: Settled): Settle =>
  async () =>
    end;

export async function readMail(deps: ReadDeps, { rcpt_to, raw }: InboundMail): Promise<Settle> {
  const address = await readReturnedAddress(deps, rcpt_to);
  if (address === null || address === "foreign") return settled(processed("address_gone"));
  switch (address.kind) {
    case "operator":
      return settled({ status: "kept", result: "for the operator" });
    case "unsubscribe": {
      const recipient = await unsubscribe(deps, address.mail);
      return settled(processed(recipient === undefined ? "message_gone" : "unsubscribed"));
    }
    case "report": {
      const reading = await deps.reading.read("report", raw);
      return reading.ok
        ? takeReports(reading.answer, address.domain, deps.clock.now())
        : takeUnreadable(reading.reason, unreadable[reading.reason], address.domain, deps.clock.now());
    }
    case "complaint":
    case "return_path": {
      const reading = await deps.reading.read("news", raw);
      return reading.ok
        ? takeNews(deps, raw, reading.answer, address.kind === "return_path" ? address.messageId : null)
        : settled(quarantined(unreadable[reading.reason]));
    }
  }
}

/** @param returned the message whose return path the mail came to; null for the address for complaints */
function takeNews(
  deps: ReadDeps,
  raw: Buffer,
  { complaint, bounce }: NewsReading,
  returned: string | null,
): Settle {
  const now = deps.clock.now();
  if (complaint !== null) {
    const messageId = returned ?? complainedMessage(complaint, deps.keys.returnPath);
    return (tx) => settleComplaint(tx, { messageId, complaint }, deps.onMoved, now);
  }
  if (returned === null || bounce === null) {
    return settled(quarantined(returned === null ? "it is no complaint" : "it is no report of a delivery"));
  }
  const { token, cfblFeedbackId, returnPath } = bounce.returned ?? {};
  const signedId = signedMessage([token, cfblFeedbackId, returnPath], deps.keys.returnPath);
  return (tx) => settleBounce(tx, { messageId: returned, bounce, signedId, raw }, deps, now);
}
