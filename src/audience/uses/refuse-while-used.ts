/** Refuses to delete or change what is in use. */
import { ApiError } from "#platform/errors.ts";

const MOST_NAMED = 3;

/** What a refusal says of a kind of users. */
export interface UseInRefusal {
  /** The start of the refusal: `Campaigns`. */
  readonly what: string;
  /** What the caller has to do first: `change them`. */
  readonly remedy: string;
}

/**
 * @param count how many use it, if these are only the first names
 * @throws ApiError CONFLICT if there are any names; the message has the first of them
 */
export function refuseWhileUsed(
  names: readonly string[],
  used: string,
  by: UseInRefusal,
  count = names.length,
): void {
  if (names.length === 0) return;
  const more = count > MOST_NAMED ? ` and ${count - MOST_NAMED} more` : "";
  const some = names.slice(0, MOST_NAMED).map((name) => `"${name}"`);
  throw new ApiError(
    "CONFLICT",
    `${by.what} use this ${used}: ${some.join(", ")}${more}; ${by.remedy} first`,
  );
}
