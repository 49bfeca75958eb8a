import { type MailResult, processed, quarantined } from "#inbound/parsing/mail-result.ts";
import type { MailParser, ParsedNotice } from "#inbound/parsing/parse-mail-in-threads.ts";
import { refuseUnreadable, storeReports } from "#inbound/reports/store-reports.ts";
import type { NamedMessage } from "#mail/bounces/verp.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { type OnUnsubscribed, unsubscribe } from "#tracking/unsubscribe-and-undo.ts";
import { applyBounce, type OutcomeDeps } from "./apply-bounce.ts";
import { applyComplaint, complainedMessage } from "./apply-complaint.ts";
import { type InboundAddressDeps, resolveInboundAddress, signedMessage } from "./resolve-inbound-address.ts";
import type { InboundMail } from "./store.ts";

export interface InterpretDeps extends InboundAddressDeps, OutcomeDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly onUnsubscribed: OnUnsubscribed;
  readonly parser: MailParser;
}

/** Writes the effects of a mail, in the transaction that sets its final status. */
export type ApplyMail = (tx: Queryable) => Promise<MailResult>;

const unreadable = {
  too_slow: "parsing takes too long",
  too_large: "parsing takes too much memory",
};

const resultOnly =
  (end: MailResult): ApplyMail =>
  async () =>
    end;

/** Decides what a stored mail changes, by its recipient address only; its sender proves nothing. */
export async function interpretMail(deps: InterpretDeps, { rcpt_to, raw }: InboundMail): Promise<ApplyMail> {
  const address = await resolveInboundAddress(deps, rcpt_to);
  if (address === null || address === "foreign") return resultOnly(processed("address_gone"));
  switch (address.kind) {
    case "operator":
      return resultOnly({ status: "kept", result: "for the operator" });
    case "unsubscribe": {
      const recipient = await unsubscribe(deps, address.mail);
      return resultOnly(processed(recipient === undefined ? "message_gone" : "unsubscribed"));
    }
    case "report": {
      const parsed = await deps.parser.read("report", raw);
      return parsed.ok
        ? storeReports(parsed.answer, address.domain, deps.clock.now())
        : refuseUnreadable(parsed.reason, unreadable[parsed.reason], address.domain, deps.clock.now());
    }
    case "complaint":
    case "return_path": {
      const parsed = await deps.parser.read("notice", raw);
      return parsed.ok
        ? applyNotice(deps, raw, parsed.answer, address.kind === "return_path" ? address.message : null)
        : resultOnly(quarantined(unreadable[parsed.reason]));
    }
  }
}

/** @param returned the message whose return path the mail was sent to; null for the complaint address */
function applyNotice(
  deps: InterpretDeps,
  raw: Buffer,
  { complaint, bounce }: ParsedNotice,
  returned: NamedMessage | null,
): ApplyMail {
  const now = deps.clock.now();
  if (complaint !== null) {
    const about = returned ?? complainedMessage(complaint, deps.keys.returnPath);
    return (tx) => applyComplaint(tx, { about, complaint }, deps.onMoved, now);
  }
  if (returned === null || bounce === null) {
    return resultOnly(quarantined(returned === null ? "not a complaint" : "not a delivery report"));
  }
  const { token, cfblFeedbackId, returnPath } = bounce.returned ?? {};
  const signedId =
    signedMessage([token, cfblFeedbackId, returnPath], deps.keys.returnPath)?.messageId ?? null;
  return (tx) => applyBounce(tx, { about: returned, bounce, signedId, raw }, deps, now);
}
