import type { ZoneResult } from "./checker.ts";

/** The zones that list a monitored target, before and after a run. */
export interface ListedZones {
  /** Names of zones, sorted. */
  readonly before: string[];
  readonly after: string[];
}

/**
 * Only an answer changes the state of a zone: after a timeout, an error or a failed self-test a zone keeps its state,
 * so that a missing answer is never reported as a delisting. Zones that are no longer in the catalogue are left out of
 * both lists.
 */
export function nextListedZones(
  previous: readonly string[],
  asked: readonly string[],
  results: readonly ZoneResult[],
): ListedZones {
  const statuses = new Map(results.map(({ zone, status }) => [zone, status]));
  const before = asked.filter((zone) => previous.includes(zone)).toSorted();
  const after = asked.filter((zone) => {
    const status = statuses.get(zone);
    return status === "listed" || (status !== "not_listed" && previous.includes(zone));
  });
  return { before, after: after.toSorted() };
}

export function hasChanged({ before, after }: ListedZones): boolean {
  return before.join() !== after.join();
}
