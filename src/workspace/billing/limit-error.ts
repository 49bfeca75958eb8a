/** The API errors at the limits of allowance, balance and hourly cap: they state the figures and what to do. */
import { Big } from "big.js";
import { counted } from "#platform/count-phrase.ts";
import { ApiError } from "#platform/errors.ts";
import { type Capacity, type MeterReading, nextHour, quotaOf } from "./derive-meter-reading.ts";
import { type MeterQuota, remainingOf } from "./meter-arithmetic.ts";
import type { MeterKind } from "./plans.ts";

const nouns: Readonly<Record<MeterKind, string>> = {
  email: "email",
  validation: "validation",
  blacklist_check: "blacklist check",
};

const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", timeZone: "UTC" });

/** The limit behind an error of acceptance; undefined for any other error. */
export function limitOfError({ code }: ApiError): Capacity["refusal"] | undefined {
  if (code === "PLAN_LIMIT_REACHED") return "plan_limit_reached";
  if (code === "INSUFFICIENT_BALANCE") return "insufficient_balance";
  return code === "RATE_LIMIT_EXCEEDED" ? "hourly_cap" : undefined;
}

/**
 * @param reading the meter before anything was taken
 * @param wanted units asked for at once
 */
export function limitError(
  refusal: Capacity["refusal"],
  reading: MeterReading,
  kind: MeterKind,
  now: Date,
  wanted = 1,
): ApiError {
  if (refusal === "hourly_cap") return hourlyCapError(reading, kind, now);
  const quota = quotaOf(reading, kind);
  const used = usedText(reading, quota, kind, wanted);
  if (refusal === "plan_limit_reached") {
    const topUp = quota.rate === null ? "" : ", or top up to pay as you go";
    return new ApiError("PLAN_LIMIT_REACHED", `${used}: subscribe to a bigger plan${topUp}`);
  }
  const balance = new Big(quota.balance).toFixed();
  const each = `${quota.rate ?? "0"} USD for each ${nouns[kind]} more`;
  return new ApiError(
    "INSUFFICIENT_BALANCE",
    `${used}; the balance of ${balance} USD does not cover this at ${each}: top up`,
  );
}

function hourlyCapError({ account }: MeterReading, kind: MeterKind, now: Date): ApiError {
  const next = nextHour(now);
  const cap = counted(account.hourly_cap ?? 0, nouns[kind]);
  const message = `The hourly cap of ${cap} is reached; it resets at ${next.toISOString().slice(11, 16)} UTC. The operator of this instance can raise it`;
  const seconds = Math.ceil((next.getTime() - now.getTime()) / 1_000);
  return new ApiError("RATE_LIMIT_EXCEEDED", message, { headers: { "Retry-After": String(seconds) } });
}

/** Such as "The plan Free has 3,000 emails a month, and all are used until 1 December". */
function usedText(
  { plan, period }: MeterReading,
  quota: MeterQuota,
  kind: MeterKind,
  wanted: number,
): string {
  const allowance = quota.allowance ?? 0;
  if (allowance === 0) return `The plan ${plan.name} includes no ${nouns[kind]}s`;
  const left = remainingOf(quota) ?? 0;
  const until = `until ${day.format(period.end)}`;
  const has = `The plan ${plan.name} has ${counted(allowance, nouns[kind])} a month, and`;
  // When enough were left, concurrent requests have taken them.
  if (left === 0 || wanted <= left) return `${has} ${allowance === 1 ? "it is" : "all are"} used ${until}`;
  const fewer = `${left.toLocaleString("en")} of them ${left === 1 ? "is" : "are"} left ${until}`;
  return `${has} ${fewer}, fewer than the ${wanted.toLocaleString("en")} that this takes`;
}
