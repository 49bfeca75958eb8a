/** The result of a validation as the API shows it. */

import { type Static, Type } from "typebox";
import type { ProbeFinding } from "#hygiene/probe/finding.ts";
import type { Resource } from "#platform/http/endpoint.ts";
import { described, nullable, Timestamp } from "#platform/shapes.ts";
import type { Findings } from "./findings.ts";
import { reasonFor } from "./reason-sentence.ts";
import { riskScoreOf, validationStatuses } from "./score.ts";

export const validations: Resource = { name: "validations", label: "Email validation", group: "Hygiene" };

const SmtpResponse = Type.Object(
  {
    code: nullable(
      Type.Integer({ description: "The code of the reply that decided; null when there was none." }),
    ),
    enhanced_code: nullable(
      Type.String({
        description: "Enhanced status code (RFC 3463), such as `5.1.1`; null if the reply had none.",
      }),
    ),
    message: Type.String({ description: "Text of the reply." }),
    mx_host: nullable(Type.String({ description: "The mail server that was asked; null if none was." })),
    port: Type.Integer({ description: "The port that was connected to." }),
    tls: Type.Boolean({ description: "Whether the session was encrypted." }),
    duration_ms: Type.Integer({ description: "Duration of the session in milliseconds." }),
    catch_all_checked: Type.Boolean({
      description: "Whether it was checked that the domain refuses unknown addresses.",
    }),
    result: Type.Enum(["accepted", "rejected", "greylisted", "blocked", "timeout", "error"], {
      description: "What the server did with the address.",
    }),
  },
  { $id: "SmtpResponse" },
);

export const Validation = Type.Object(
  {
    email: Type.String({ description: "As given in the request." }),
    status: Type.Enum([...validationStatuses], { description: "The result in one word." }),
    risk_score: Type.Integer({ minimum: 0, maximum: 10, description: "0 is safe, 10 is risky." }),
    reason: nullable(
      Type.String({ description: "Why the status is invalid or unknown; null for other statuses." }),
    ),
    format_valid: Type.Boolean({ description: "Whether it is an address." }),
    domain_valid: Type.Boolean({ description: "Whether the domain can receive mail." }),
    mx_record_found: Type.Boolean({ description: "Whether the domain has a mail server." }),
    email_exists: Type.Optional(
      Type.Boolean({
        description: "Whether the mailbox exists; only present if its server answered clearly.",
      }),
    ),
    smtp_response: Type.Optional(
      described(SmtpResponse, "The reply of the mail server; absent if none was asked."),
    ),
    is_catch_all: Type.Boolean({ description: "Whether the domain accepts every address." }),
    is_disposable: Type.Boolean({ description: "Whether the domain is a provider of throw-away mailboxes." }),
    is_role_based: Type.Boolean({ description: "Whether it is the address of a role such as `info@`." }),
    is_complainer: Type.Boolean({
      description: "Whether the address complained about this workspace's mail.",
    }),
    is_honeypot: Type.Boolean({ description: "Whether it is known as a trap for senders of spam." }),
    is_free_provider: Type.Boolean({ description: "Whether the domain is a provider of free mailboxes." }),
    is_new_domain: nullable(
      Type.Boolean({
        description: "Whether the domain was registered within the last 30 days; null: unknown.",
      }),
    ),
    suggestion: nullable(Type.String({ description: "The domain that was probably intended." })),
    mx_host: nullable(Type.String({ description: "The mail host that is tried first." })),
    checked_at: described(Timestamp, "When it was validated, in UTC."),
    cached: Type.Boolean({ description: "Whether the result is from a call of the last ten minutes." }),
  },
  { $id: "Validation" },
);
export type Validation = Static<typeof Validation>;

/** @param email as given in the request */
export function validationOf(
  email: string,
  findings: Findings,
  { isComplainer, isCached }: { readonly isComplainer: boolean; readonly isCached: boolean },
): Validation {
  const { domain, probe, isCatchAll } = findings;
  const verdict = riskScoreOf(findings, isComplainer);
  return {
    email,
    ...verdict,
    reason: reasonFor(verdict.status, findings),
    format_valid: domain !== null,
    domain_valid: domain !== null && (domain.outcome === "deliverable" || hasUnresolvedHosts(domain)),
    mx_record_found: domain?.hasMx ?? false,
    ...existence(findings),
    ...smtpResponse(probe),
    is_catch_all: isCatchAll ?? false,
    is_disposable: findings.isDisposable,
    is_role_based: findings.isRoleBased,
    is_complainer: isComplainer,
    is_honeypot: findings.isHoneypot,
    is_free_provider: findings.isFreeProvider,
    is_new_domain: findings.isNewDomain,
    suggestion: findings.suggestion,
    mx_host: probe?.mxHost ?? domain?.hosts[0] ?? null,
    checked_at: findings.checkedAt,
    cached: isCached,
  };
}

/** The domain has MX records, but the addresses of its hosts could not be looked up. */
function hasUnresolvedHosts({ outcome, hasMx }: NonNullable<Findings["domain"]>): boolean {
  return outcome === "unknown" && hasMx;
}

/** Omitted when the server refused us, and for a catch-all: neither says anything about the mailbox. */
function existence({ probe, isCatchAll }: Findings): { email_exists?: boolean } {
  if (probe?.result === "rejected") return { email_exists: false };
  return probe?.result === "accepted" && isCatchAll !== true ? { email_exists: true } : {};
}

/** Omitted when no server was asked. */
function smtpResponse(probe: ProbeFinding | null): { smtp_response?: Static<typeof SmtpResponse> } {
  if (probe === null || probe.result === "rate_limited" || probe.result === "stopped") return {};
  return {
    smtp_response: {
      code: probe.code,
      enhanced_code: probe.enhancedCode,
      message: probe.message,
      mx_host: probe.mxHost,
      port: probe.port,
      tls: probe.tls,
      duration_ms: Math.round(probe.durationMs),
      catch_all_checked: probe.catchAllChecked,
      // The message says why the address cannot be asked about.
      result: probe.result === "unaskable" ? "error" : probe.result,
    },
  };
}

const LONGEST_SHOWN = 1_000;

/** The given text as it is stored and shown: without NUL and lone surrogates, which PostgreSQL refuses, and cut. */
export function shownText(text: string): string {
  return text.replaceAll("\0", "").slice(0, LONGEST_SHOWN).toWellFormed();
}
