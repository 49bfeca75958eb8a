/** The answer about one address, as it is shown. */

import { type Static, Type } from "typebox";
import type { ProbeFinding } from "#hygiene/probe/finding.ts";
import type { Resource } from "#platform/http/endpoint.ts";
import { nullable, Timestamp } from "#platform/shapes.ts";
import type { Findings } from "./findings.ts";
import { reasonFor } from "./reason.ts";
import { riskScoreOf, validationStatuses } from "./score.ts";

export const validations: Resource = { name: "validations", label: "Email validation", group: "Hygiene" };

const SmtpResponse = Type.Object(
  {
    code: nullable(Type.Integer({ description: "Of the reply that decided; null when there was none." })),
    enhanced_code: nullable(Type.String()),
    message: Type.String(),
    mx_host: nullable(Type.String()),
    port: Type.Integer(),
    tls: Type.Boolean(),
    duration_ms: Type.Integer(),
    catch_all_checked: Type.Boolean(),
    result: Type.Enum(["accepted", "rejected", "greylisted", "blocked", "timeout", "error"]),
  },
  { $id: "SmtpResponse" },
);

export const Validation = Type.Object(
  {
    email: Type.String({ description: "As it was given." }),
    status: Type.Enum([...validationStatuses]),
    risk_score: Type.Integer({ minimum: 0, maximum: 10, description: "0 is safe, 10 is risky." }),
    reason: nullable(
      Type.String({ description: "Of invalid and unknown: what was found. Null for every other status." }),
    ),
    format_valid: Type.Boolean(),
    domain_valid: Type.Boolean({ description: "Whether the domain can take mail." }),
    mx_record_found: Type.Boolean(),
    email_exists: Type.Optional(
      Type.Boolean({
        description: "Only where the address's server said so or so: whether there is such a mailbox.",
      }),
    ),
    smtp_response: Type.Optional(SmtpResponse),
    is_catch_all: Type.Boolean(),
    is_disposable: Type.Boolean(),
    is_role_based: Type.Boolean(),
    is_complainer: Type.Boolean({ description: "Whether they complained about this workspace's mail." }),
    is_honeypot: Type.Boolean(),
    is_free_provider: Type.Boolean(),
    is_new_domain: nullable(
      Type.Boolean({
        description:
          "Whether the domain was registered within the last 30 days; null where nobody was asked, or could tell.",
      }),
    ),
    suggestion: nullable(Type.String({ description: "The domain that was likely meant." })),
    mx_host: nullable(Type.String({ description: "The host that is tried first." })),
    checked_at: Timestamp,
    cached: Type.Boolean({ description: "Whether it was found out for a call of the last ten minutes." }),
  },
  { $id: "Validation" },
);
export type Validation = Static<typeof Validation>;

/** @param email as it was given */
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
    domain_valid: domain !== null && (domain.outcome === "deliverable" || isUnderstood(domain)),
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

/** The domain names its hosts, and only those cannot be found at this moment. */
function isUnderstood({ outcome, hasMx }: NonNullable<Findings["domain"]>): boolean {
  return outcome === "unknown" && hasMx;
}

/** A server that puts us off has said nothing about the address, nor has a domain that takes any. */
function existence({ probe, isCatchAll }: Findings): { email_exists?: boolean } {
  if (probe?.result === "rejected") return { email_exists: false };
  return probe?.result === "accepted" && isCatchAll !== true ? { email_exists: true } : {};
}

/** Only of a server that was asked. */
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
      // It cannot be asked about the address: why, the message says.
      result: probe.result === "unaskable" ? "error" : probe.result,
    },
  };
}

const LONGEST_SHOWN = 1_000;

/** Neither NUL nor half a character can be stored. */
export function shownText(text: string): string {
  return text.replaceAll("\0", "").slice(0, LONGEST_SHOWN).toWellFormed();
}
