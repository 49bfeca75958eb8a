/** A workspace: the tenant that owns keys, senders, audience and messages, and what an operator may set on it. */
import { parseAddress } from "#mail/address.ts";
import { invalid } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";

export const planNames = ["free", "growth", "scale", "enterprise"] as const;
export type PlanName = (typeof planNames)[number];

export interface Workspace {
  readonly id: WorkspaceId;
  readonly name: string;
  /** IANA name; the days and months of reports follow it; allowances go by UTC. */
  readonly timezone: string;
  readonly plan: PlanName;
  /** Most messages an hour; null is no cap. */
  readonly hourly_cap: number | null;
  /** Where the service writes to about what the workspace ought to know; null is nowhere. */
  readonly notify_email: string | null;
  /** From whom its transactional mail is where the caller names nobody; null is the installation's own sender. */
  readonly default_sender: string | null;
  /** How long mail that was put off is tried again. */
  readonly retry_hours: number;
  /** Whether opens and clicks of its transactional mail are recorded. */
  readonly tracks_transactional: boolean;
  readonly is_suspended: boolean;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Largest value the column holds. */
const LARGEST_CAP = 2_147_483_647;
/** A week: nobody waits longer for a mail. */
const MOST_RETRY_HOURS = 168;
/** Of a new workspace (mail-practice: 72 h), and of the service's own mail. */
export const STANDARD_RETRY_HOURS = 72;

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
  return readAddressOrNone(text, "notify_email", "the address of notices");
}

/** The same. Whether the workspace may send as it is asked when it does. @throws ApiError VALIDATION_ERROR */
export function readDefaultSender(text: string): string {
  return readAddressOrNone(text, "default_sender", "the default sender");
}

function readAddressOrNone(text: string, field: string, what: string): string {
  if (text === "none") return text;
  const parsed = parseAddress(text);
  if (!parsed.ok) throw invalid({ field, message: `${what}: ${parsed.message}` });
  return parsed.address;
}

/** Hours from 1 to 168. @throws ApiError VALIDATION_ERROR */
export function readRetryHours(text: string): number {
  const hours = Number(text);
  if (!/^\d+$/.test(text) || hours < 1 || hours > MOST_RETRY_HOURS) {
    throw invalid({
      field: "retry_hours",
      message: `retry hours must be a whole number from 1 to ${MOST_RETRY_HOURS}`,
    });
  }
  return hours;
}

/** @throws ApiError VALIDATION_ERROR */
export function readTracksTransactional(text: string): boolean {
  if (text !== "on" && text !== "off") {
    throw invalid({ field: "tracks_transactional", message: "tracking transactional mail is on or off" });
  }
  return text === "on";
}
