/**
 * What a host's reply says about a mailbox. Only a refusal that is certainly about the address counts against it:
 * whoever calls a living address dead does more harm than one who does not know.
 */

import { classifyReply, enhancedCode, type ReplyStage } from "#mail/refusals/classify-reply.ts";
import type { SmtpAnswer, SmtpFault } from "#smtp-client/outcome.ts";
import type { ProbeFinding } from "./finding.ts";

const LONGEST_MESSAGE = 500;

/** The part of a finding that one reply, or its absence, decides. */
export type Verdict = Pick<ProbeFinding, "result" | "code" | "enhancedCode" | "message" | "isMailboxFull">;

/** Judges the reply to RCPT, or the refusal of a stage before it. */
export function verdictOn(answer: SmtpAnswer, stage: ReplyStage): Verdict {
  const { code, enhanced, text } = answer;
  const said = {
    code,
    enhancedCode: enhanced ?? enhancedCode(text),
    message: text.slice(0, LONGEST_MESSAGE).toWellFormed(),
  };
  if (code < 400) {
    // RFC 5321 section 3.5.3: 252 is a host that cannot, or will not, verify.
    return { ...said, result: code === 250 || code === 251 ? "accepted" : "error", isMailboxFull: false };
  }
  const { category, scope, suppress, bounceClass } = classifyReply({ code, enhanced, text, stage });
  const refused = (result: Verdict["result"]): Verdict => ({ ...said, result, isMailboxFull: false });
  const isRcpt = stage === "rcpt";
  if (isRcpt && category === "MailboxFull") return { ...said, result: "accepted", isMailboxFull: true };
  if (code < 500) {
    const isAboutUs = scope === "lane" || category === "AuthenticationFailed";
    return refused(isAboutUs ? "blocked" : "greylisted");
  }
  // 5.7.1 is a policy, also where its text speaks of the mailbox.
  if (suppress && !said.enhancedCode?.endsWith(".7.1")) return refused("rejected");
  // Neither the address nor we: their system, or a command they do not understand.
  const isTheirs = category === "General" || bounceClass === "ours";
  return refused(isRcpt && isTheirs ? "error" : "blocked");
}

/** There was no answer. */
export function verdictOnSilence({ fault, reason }: SmtpFault): Verdict {
  return unanswered(fault === "timeout" ? "timeout" : "error", reason);
}

/** @param reason what is said of it in place of a host's text */
export function unanswered(result: Verdict["result"], reason: string): Verdict {
  const message = reason.slice(0, LONGEST_MESSAGE).toWellFormed();
  return { result, code: null, enhancedCode: null, message, isMailboxFull: false };
}
