/**
 * The simulated replies of capture mode. Every message is accepted, except for recipients with a tag in the local part that asks
 * for a refusal, at a domain reserved for examples and tests (RFC 2606, RFC 6761), where no real address exists.
 */
import type { TransactionResult } from "#smtp-client/outcome.ts";

const TAGGED = /\+(?<tag>bounce|full|later)@(?:.+\.)?(?:example(?:\.com|\.net|\.org)?|test|invalid)$/;

const refusals: Readonly<Record<string, TransactionResult>> = {
  bounce: refusal(550, "5.1.1", "No such user here"),
  full: refusal(552, "5.2.2", "Mailbox full"),
  later: refusal(451, "4.3.0", "Temporary failure"),
};

const accepted: TransactionResult = {
  outcome: "accepted",
  code: 250,
  enhanced: "2.0.0",
  text: "captured in the local inbox",
};

/** @param recipient an address whose domain is in lower case */
export function captureReply(recipient: string): TransactionResult {
  const { tag = "" } = TAGGED.exec(recipient)?.groups ?? {};
  return refusals[tag] ?? accepted;
}

function refusal(code: number, enhanced: string, text: string): TransactionResult {
  return { outcome: "refused", stage: "rcpt", code, enhanced, text };
}
