/** The plans: prices, allowances, and the price of usage beyond them. */
import { type PlanName, planNames } from "#workspace/workspaces/workspace.ts";

/** What is metered, by kind. */
export const meterKinds = ["email", "validation", "blacklist_check"] as const;
export type MeterKind = (typeof meterKinds)[number];

/** What counts in `bytes`, for descriptions and messages. */
export const STORED_CONTENTS = "message contents, received mail, drafts, pictures and job files";

/** What a plan limits in storage: bytes of STORED_CONTENTS, and rows. */
export const storageKinds = ["bytes", "subscribers", "suppression_entries"] as const;
export type StorageKind = (typeof storageKinds)[number];

export interface Plan {
  readonly id: PlanName;
  readonly name: string;
  readonly description: string;
  /** USD; null: by agreement with the operator. */
  readonly price_monthly: string | null;
  readonly price_yearly: string | null;
  /** Units a month; null is no limit. */
  readonly allowances: Readonly<Record<MeterKind, number | null>>;
  /** USD for a unit beyond the allowance; null: usage stops at the allowance. */
  readonly rates: Readonly<Record<MeterKind, string | null>>;
  /** Maximum stored at a time; null is no limit. */
  readonly storage: Readonly<Record<StorageKind, number | null>>;
  readonly features: readonly string[];
}

export type Plans = Readonly<Record<PlanName, Plan>>;

/** The price of a unit beyond an allowance. Blacklist checks stop at their allowance in every plan. */
const OVERAGE_RATE = "0.0008";
const rates = { email: OVERAGE_RATE, validation: OVERAGE_RATE, blacklist_check: null };

const GIB = 1024 ** 3;

export const plans: Plans = {
  free: {
    id: "free",
    name: "Free",
    description: "For a start: 3,000 emails a month. With a balance, pay as you go beyond them.",
    price_monthly: "0.00",
    price_yearly: "0.00",
    allowances: { email: 3_000, validation: 100, blacklist_check: 50 },
    rates,
    storage: { bytes: 2 * GIB, subscribers: 2_000_000, suppression_entries: 2_000_000 },
    features: ["Transactional email and campaigns", "2,000,000 subscribers", "DKIM on your own domain"],
  },
  growth: {
    id: "growth",
    name: "Growth",
    description: "50,000 emails a month, $0.0008 for each beyond them.",
    price_monthly: "35.00",
    price_yearly: "420.00",
    allowances: { email: 50_000, validation: 5_000, blacklist_check: 1_000 },
    rates,
    storage: { bytes: 20 * GIB, subscribers: 10_000_000, suppression_entries: 10_000_000 },
    features: ["Everything in Free", "Prepaid overage"],
  },
  scale: {
    id: "scale",
    name: "Scale",
    description: "250,000 emails a month, $0.0008 for each beyond them.",
    price_monthly: "95.00",
    price_yearly: "1140.00",
    allowances: { email: 250_000, validation: 25_000, blacklist_check: 5_000 },
    rates,
    storage: { bytes: 100 * GIB, subscribers: 50_000_000, suppression_entries: 50_000_000 },
    features: ["Everything in Growth", "Five times the emails"],
  },
  enterprise: {
    id: "enterprise",
    name: "Enterprise",
    description: "Custom volume, by agreement with the operator of this instance.",
    price_monthly: null,
    price_yearly: null,
    allowances: { email: null, validation: null, blacklist_check: null },
    rates,
    storage: { bytes: null, subscribers: null, suppression_entries: null },
    features: ["Everything in Scale", "No limits"],
  },
};

/** Plans that are offered for subscription. */
export const offeredPlans: readonly PlanName[] = planNames.filter((name) => name !== "free");
