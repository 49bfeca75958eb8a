/** From a stored mail to what it changes: by what its recipient stands for, never by who it says it is from. */

import { type MailResult, processed, quarantined } from "#inbound/parsing/mail-result.ts";
import type { MailParser, ParsedNotice } from "#inbound/parsing/parse-mail.ts";
import { refuseUnreadable, storeReports } from "#inbound/reports/store-reports.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { type OnUnsubscribed, unsubscribe } from "#tracking/unsubscribe.ts";
import { applyBounce, type OutcomeDeps } from "./apply-bounce.ts";
import { applyComplaint, complainedMessage } from "./apply-complaint.ts";
import { type InboundAddressDeps, resolveInboundAddress, signedMessage } from "./inbound-address.ts";
import type { InboundMail } from "./store.ts";

export interface InterpretDeps extends InboundAddressDeps, OutcomeDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly onUnsubscribed: OnUnsubscribed;
  readonly reading: MailParser;
}

/** Writes down what a mail means, in the transaction that ends it. */
export type ApplyMail = (tx: Queryable) => Promise<MailResult>;

const unreadable = {
  too_slow: "it takes too long to read",
  too_large: "it takes too much memory to read",
};

const settled =
  (end: MailResult): ApplyMail =>
  async () =>
    end;

export async function interpretMail(deps: InterpretDeps, { rcpt_to, raw }: InboundMail): Promise<ApplyMail> {
  const address = await resolveInboundAddress(deps, rcpt_to);
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
        ? storeReports(reading.answer, address.domain, deps.clock.now())
        : refuseUnreadable(reading.reason, unreadable[reading.reason], address.domain, deps.clock.now());
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
  deps: InterpretDeps,
  raw: Buffer,
  { complaint, bounce }: ParsedNotice,
  returned: string | null,
): ApplyMail {
  const now = deps.clock.now();
  if (complaint !== null) {
    const messageId = returned ?? complainedMessage(complaint, deps.keys.returnPath);
    return (tx) => applyComplaint(tx, { messageId, complaint }, deps.onMoved, now);
  }
  if (returned === null || bounce === null) {
    return settled(quarantined(returned === null ? "it is no complaint" : "it is no report of a delivery"));
  }
  const { token, cfblFeedbackId, returnPath } = bounce.returned ?? {};
  const signedId = signedMessage([token, cfblFeedbackId, returnPath], deps.keys.returnPath);
  return (tx) => applyBounce(tx, { messageId: returned, bounce, signedId, raw }, deps, now);
}
