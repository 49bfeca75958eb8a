/** In which zones a watched target is listed, from one run to the next. */
import type { ZoneResult } from "./checker.ts";

export interface ListedZones {
  /** Names of zones, in order. */
  readonly before: string[];
  readonly after: string[];
}

/**
 * Only an answer moves a zone: one that timed out, erred or fails its self-test keeps the state it had, so that silence
 * never looks like a delisting. Zones that are no longer asked drop out of both sides: that is the catalogue's change.
 */
export function nextListedZones(
  former: readonly string[],
  asked: readonly string[],
  results: readonly ZoneResult[],
): ListedZones {
  const statuses = new Map(results.map(({ zone, status }) => [zone, status]));
  const before = asked.filter((zone) => former.includes(zone)).toSorted();
  const after = asked.filter((zone) => {
    const status = statuses.get(zone);
    return status === "listed" || (status !== "not_listed" && former.includes(zone));
  });
  return { before, after: after.toSorted() };
}

export function hasChanged({ before, after }: ListedZones): boolean {
  return before.join() !== after.join();
}
