/** How a caller hears that allowance, balance or hourly cap cover no more. */
import { ApiError } from "#platform/errors.ts";
import { type Capacity, nextHour } from "./reading.ts";

const messages = {
  plan_limit_reached:
    "The plan's volume is used up until its period ends: subscribe to a bigger plan, or top up to pay as you go",
  insufficient_balance: "The allowance is used up and the prepaid balance does not cover this: top up",
  hourly_cap: "The workspace's hourly cap is reached: go on when the hour is over",
};

/** Which of them an error says; undefined for any other. */
export function refusalOfError({ code, message }: ApiError): Capacity["refusal"] | undefined {
  if (code === "PLAN_LIMIT_REACHED") return "plan_limit_reached";
  if (code === "INSUFFICIENT_BALANCE") return "insufficient_balance";
  return message === messages.hourly_cap ? "hourly_cap" : undefined;
}

export function refusalError(refusal: Capacity["refusal"], now: Date): ApiError {
  const message = messages[refusal];
  if (refusal === "plan_limit_reached") return new ApiError("PLAN_LIMIT_REACHED", message);
  if (refusal === "insufficient_balance") return new ApiError("INSUFFICIENT_BALANCE", message);
  const seconds = Math.ceil((nextHour(now).getTime() - now.getTime()) / 1_000);
  return new ApiError("RATE_LIMIT_EXCEEDED", message, { headers: { "Retry-After": String(seconds) } });
}
