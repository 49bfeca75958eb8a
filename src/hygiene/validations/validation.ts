/** The answer about one address, as it is shown. */
import { type Static, Type } from "typebox";
import { nullable, Timestamp } from "../../platform/http/shapes.ts";
import type { ProbeFinding } from "../probe/prober.ts";
import type { Findings } from "./findings.ts";
import { judge, statuses } from "./verdict.ts";

const shownResults = ["accepted", "rejected", "greylisted", "blocked", "timeout", "error"] as const;
type ShownResult = (typeof shownResults)[number];
/** What is told apart among ourselves only. */
const unshown: Readonly<Record<Exclude<ProbeFinding["result"], ShownResult>, ShownResult>> = {
  unaskable: "error",
  no_turn: "timeout",
  stopped: "error",
};

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
    result: Type.Enum([...shownResults]),
  },
  { $id: "SmtpResponse" },
);

export const Validation = Type.Object(
  {
    email: Type.String({ description: "As it was given." }),
    status: Type.Enum([...statuses]),
    risk_score: Type.Integer({ minimum: 0, maximum: 10, description: "0 is safe, 10 is risky." }),
    format_valid: Type.Boolean(),
    domain_valid: Type.Boolean({ description: "Whether the domain can take mail." }),
    mx_record_found: Type.Boolean(),
    email_exists: Type.Optional(
      Type.Boolean({
        description:
          "Only where the address's server was asked: whether it said that there is such a mailbox.",
      }),
    ),
    smtp_response: Type.Optional(SmtpResponse),
    is_catch_all: Type.Boolean(),
    is_disposable: Type.Boolean(),
    is_role_based: Type.Boolean(),
    is_complainer: Type.Boolean({ description: "Whether they complained about this workspace's mail." }),
    is_honeypot: Type.Boolean(),
    is_free_provider: Type.Boolean(),
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
  return {
    email,
    ...judge(findings, isComplainer),
    format_valid: domain !== null,
    domain_valid: domain !== null && (domain.outcome === "deliverable" || isUnderstood(domain)),
    mx_record_found: domain?.hasMx ?? false,
    ...(probe !== null && {
      // A domain that takes any address has said nothing about this one.
      email_exists: probe.result === "accepted" && isCatchAll !== true,
      smtp_response: smtpResponseOf(probe),
    }),
    is_catch_all: isCatchAll ?? false,
    is_disposable: findings.isDisposable,
    is_role_based: findings.isRoleBased,
    is_complainer: isComplainer,
    is_honeypot: findings.isHoneypot,
    is_free_provider: findings.isFreeProvider,
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

function isShown(result: ProbeFinding["result"]): result is ShownResult {
  return !(result in unshown);
}

function smtpResponseOf(probe: ProbeFinding): Static<typeof SmtpResponse> {
  return {
    code: probe.code,
    enhanced_code: probe.enhancedCode,
    message: probe.message,
    mx_host: probe.mxHost,
    port: probe.port,
    tls: probe.tls,
    duration_ms: Math.round(probe.durationMs),
    catch_all_checked: probe.catchAllChecked,
    result: isShown(probe.result) ? probe.result : unshown[probe.result],
  };
}
