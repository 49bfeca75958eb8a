/** Error messages for reached limits: which limit, how much it allows, and when to try again. */
import { ApiError, overloaded } from "#platform/errors.ts";
import type { Limit } from "./limit.ts";

const HELD_RETRY_S = 1;

/** "There can be at most 20 unfinished requests per API key or person at one time." */
export function limitSentence({ what, scope, most, unit, per }: Limit): string {
  const amount = unit === "bytes" ? `${bytesText(most)} of ${what}` : `${most.toLocaleString("en")} ${what}`;
  return `There can be at most ${amount} per ${scope}${per === undefined ? " at one time" : ` and ${per}`}.`;
}

/**
 * A RATE_LIMIT_EXCEEDED that names the limit.
 * @param ends the end of the window of a quota; without it, the caller may retry after a second
 */
export function limitRefusal(limit: Limit, now?: Date, ends?: Date): ApiError {
  const seconds =
    ends === undefined || now === undefined
      ? HELD_RETRY_S
      : Math.max(1, Math.ceil((ends.getTime() - now.getTime()) / 1000));
  return new ApiError("RATE_LIMIT_EXCEEDED", `${limitSentence(limit)} Try again in ${seconds} s.`, {
    headers: { "Retry-After": String(seconds) },
  });
}

/** @throws ApiError RATE_LIMIT_EXCEEDED when a quota is used up */
export function refuseReached(
  reached: { readonly limit: Limit; readonly ends: Date } | null,
  now: Date,
): void {
  if (reached !== null) throw limitRefusal(reached.limit, now, reached.ends);
}

/** The error for a limit on what is held at a time: 429, or 503 for a limit of the whole installation. */
export function shareRefusal(limit: Limit): ApiError {
  if (limit.scope !== "installation") return limitRefusal(limit);
  return overloaded(`${limitSentence(limit)} Try again in ${HELD_RETRY_S} s.`);
}

/** 1,048,576 → "1 MiB". */
export function bytesText(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let [value, unit] = [bytes, 0];
  while (value >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
  return `${Number(value.toFixed(1)).toLocaleString("en")} ${units[unit]}`;
}
