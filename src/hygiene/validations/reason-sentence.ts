import type { ProbeFinding } from "#hygiene/probe/finding.ts";
import type { Findings } from "./findings.ts";
import type { ValidationStatus } from "./score.ts";

/** Why an address is invalid or unknown, in one sentence; null for other statuses. */
export function reasonFor(status: ValidationStatus, { domain, probe }: Findings): string | null {
  if (status !== "invalid" && status !== "unknown") return null;
  if (domain === null) return "This is not an email address.";
  if (domain.outcome !== "deliverable") return `${upperFirst(domain.reason)}.`;
  return probe === null ? null : reasonOf(probe);
}

const beginnings: Readonly<Record<ProbeFinding["result"], string>> = {
  accepted: "The server accepts the address",
  rejected: "The server says that there is no such mailbox",
  greylisted: "The server asked to try again later",
  blocked: "The server refused us, which says nothing about the mailbox",
  timeout: "The server did not answer in time",
  error: "The server could not be asked",
  unaskable: "The server cannot be asked about this address",
  rate_limited: "The server was not asked",
  stopped: "The server was not asked",
};

function reasonOf({ result, code, message }: ProbeFinding): string {
  const said = [code, message].filter((part) => part !== null && part !== "").join(" ");
  return said === "" ? `${beginnings[result]}.` : `${beginnings[result]}: ${said}`;
}

function upperFirst(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
