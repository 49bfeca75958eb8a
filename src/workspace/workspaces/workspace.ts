/** A workspace: the tenant that owns keys, senders, audience and messages, and what an operator may set on it. */
import { parseAddress } from "../../mail/address.ts";
import { invalid } from "../../platform/errors.ts";
import type { WorkspaceId } from "../../platform/ids.ts";

export const planNames = ["free", "growth", "scale", "enterprise"] as const;
export type PlanName = (typeof planNames)[number];

export interface Workspace {
  readonly id: WorkspaceId;
  readonly name: string;
  /** IANA name; the days and months of reports and allowances follow it. */
  readonly timezone: string;
  readonly plan: PlanName;
  /** Most messages an hour; null is no cap. */
  readonly hourly_cap: number | null;
  /** Where the service writes to about what the workspace ought to know; null is nowhere. */
  readonly notify_email: string | null;
  readonly is_suspended: boolean;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Largest value the column holds. */
const LARGEST_CAP = 2_147_483_647;

/** @throws ApiError VALIDATION_ERROR */
export function readPlanName(text: string): PlanName {
  const plan = planNames.find((candidate) => candidate === text);
  if (plan === undefined) {
    throw invalid({ field: "plan", message: `plan must be one of ${planNames.join(", ")}` });
  }
  return plan;
}

/**
 * UTC or Region/City. Intl alone would also take offsets and ICU's abbreviations, which are no IANA names and which
 * PostgreSQL reads differently or not at all.
 * @throws ApiError VALIDATION_ERROR
 */
export function readTimezone(text: string): string {
  if (!/^(UTC|(US|[A-Z][a-z]+)\/[\w+/-]+)$/.test(text) || !isKnownZone(text)) {
    throw invalid({
      field: "timezone",
      message: "timezone must be an IANA time zone such as Europe/Paris, or UTC",
    });
  }
  return text;
}

function isKnownZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone });
    return true;
  } catch {
    return false;
  }
}

/** Messages an hour, or the word none. @throws ApiError VALIDATION_ERROR */
export function readHourlyCap(text: string): number | "none" {
  if (text === "none") return text;
  const cap = Number(text);
  if (!/^\d+$/.test(text) || cap < 1 || cap > LARGEST_CAP) {
    throw invalid({ field: "hourly_cap", message: "hourly cap must be a whole number above 0, or none" });
  }
  return cap;
}

/** A bare address, or the word none. @throws ApiError VALIDATION_ERROR */
export function readNotifyEmail(text: string): string {
  if (text === "none") return text;
  const parsed = parseAddress(text);
  if (!parsed.ok)
    throw invalid({ field: "notify_email", message: `the address of notices: ${parsed.message}` });
  return parsed.address;
}
