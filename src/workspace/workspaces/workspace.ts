/** A workspace: the tenant that owns keys, senders, audience and messages, and its settings. */
import { parseAddress } from "#mail/address.ts";
import { invalid } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Language } from "#platform/languages/language.ts";

export const planNames = ["free", "growth", "scale", "enterprise"] as const;
export type PlanName = (typeof planNames)[number];

export interface Workspace {
  readonly id: WorkspaceId;
  readonly name: string;
  /** IANA name. Days and months of reports follow it; billing periods are in UTC. */
  readonly timezone: string;
  readonly plan: PlanName;
  /** Messages an hour at most, set by the operator; null is no cap. */
  readonly hourly_cap: number | null;
  /** As hourly_cap, set by the workspace itself: the lower one applies. */
  readonly own_hourly_cap: number | null;
  /** Recipient of the service's notices to the workspace; null: none are sent. */
  readonly notify_email: string | null;
  /** From of transactional mail whose caller names no sender; null is the installation's default sender. */
  readonly default_sender: string | null;
  /** How long deferred mail is retried before it fails. */
  readonly retry_hours: number;
  /** Whether opens and clicks of its transactional mail are recorded. */
  readonly tracks_transactional: boolean;
  /** Whether people need a session with a second factor. */
  readonly requires_second_factor: boolean;
  /** Of its pages and mails for recipients, unless a list or the recipient has another. */
  readonly language: Language;
  /** Name of the custom field that has a recipient's language; null: `language` or `locale`, where these are defined. */
  readonly language_field: string | null;
  readonly is_suspended: boolean;
  /** Null while it is not suspended. */
  readonly suspended_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** The maximum of the column (integer). */
export const LARGEST_CAP = 2_147_483_647;
/** A week. */
export const MOST_RETRY_HOURS = 168;
/**
 * For new workspaces, and for the service's own mail. Less than the 4 to 5 days of RFC 5321 section 4.5.4.1: mail that
 * comes later than three days helps no recipient.
 */
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
 * UTC or Region/City. Intl alone would also accept offsets and ICU abbreviations, which are not IANA names and which
 * PostgreSQL reads differently or rejects.
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

/**
 * A bare address, or the word none. Whether the workspace may send as it is checked when it does.
 * @throws ApiError VALIDATION_ERROR
 */
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
