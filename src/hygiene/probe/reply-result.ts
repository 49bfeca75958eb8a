import { classifyReply, enhancedCode, type ReplyStage } from "#mail/refusals/classify-reply.ts";
import type { SmtpAnswer, SmtpFault } from "#smtp-client/outcome.ts";
import type { ProbeFinding } from "./finding.ts";

const LONGEST_MESSAGE = 500;

/** The part of a finding that one reply, or its absence, decides. */
export type ReplyResult = Pick<
  ProbeFinding,
  "result" | "code" | "enhancedCode" | "message" | "isMailboxFull"
>;

/**
 * What the reply to RCPT, or a refusal at an earlier stage, says about the mailbox. Only a refusal that is certainly
 * about the address makes it `rejected`: a wrong `rejected` does more harm than a wrong `unknown`.
 */
export function resultOfReply(answer: SmtpAnswer, stage: ReplyStage): ReplyResult {
  const { code, enhanced, text } = answer;
  const reply = {
    code,
    enhancedCode: enhanced ?? enhancedCode(text),
    message: text.slice(0, LONGEST_MESSAGE).toWellFormed(),
  };
  if (code < 400) {
    // RFC 5321 section 3.5.3: with 252 a host cannot, or will not, verify.
    return { ...reply, result: code === 250 || code === 251 ? "accepted" : "error", isMailboxFull: false };
  }
  const { category, scope, suppress, bounceClass } = classifyReply({ code, enhanced, text, stage });
  const refused = (result: ReplyResult["result"]): ReplyResult => ({
    ...reply,
    result,
    isMailboxFull: false,
  });
  const isRcpt = stage === "rcpt";
  if (isRcpt && category === "MailboxFull") return { ...reply, result: "accepted", isMailboxFull: true };
  if (code < 500) {
    const isAboutUs = scope === "lane" || category === "AuthenticationFailed";
    return refused(isAboutUs ? "blocked" : "greylisted");
  }
  // 5.7.1 is a policy, even if its text is about the mailbox.
  if (suppress && !reply.enhancedCode?.endsWith(".7.1")) return refused("rejected");
  // About neither the address nor us: a fault of their system, or a command that it does not understand.
  const isTheirs = category === "General" || bounceClass === "ours";
  return refused(isRcpt && isTheirs ? "error" : "blocked");
}

/** The result when the host gave no reply. */
export function resultOfFault({ fault, reason }: SmtpFault): ReplyResult {
  return unanswered(fault === "timeout" ? "timeout" : "error", reason);
}

/** A result without a reply. @param reason takes the place of the host's text */
export function unanswered(result: ReplyResult["result"], reason: string): ReplyResult {
  const message = reason.slice(0, LONGEST_MESSAGE).toWellFormed();
  return { result, code: null, enhancedCode: null, message, isMailboxFull: false };
}
