/**
 * Looks up the MX of recipient domains in the background, to name the mailbox provider behind each: the lane that delivery
 * has for these hosts. Domains without an MX, and hosts of no known provider, belong to the lane `default`.
 */

import type { Lane } from "#delivery/lanes/default-lanes.ts";
import { laneFor } from "#delivery/lanes/lanes-by-mx-host.ts";
import type { Resolver } from "#dns/resolver-interface.ts";
import type { Clock } from "#platform/clock.ts";
import { createLimiter } from "#platform/concurrency.ts";
import type { Database } from "#platform/database/pool.ts";
import { PutBack } from "#platform/jobs/attempt.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { type FoundProvider, listDomainsToLookUp, removeUnusedProviders, saveProviders } from "./store.ts";

const SECONDS = 900;
/** Domains of one run. */
const MOST_DUE = 2_000;
/** Domains that are looked up and saved together. */
const BATCH = 200;
const CONCURRENT = 10;
/** Hosts of one domain that count, as many as delivery tries. */
const MOST_HOSTS = 10;
/** The longest window of the reports, and the week in which it begins. */
const WINDOW_MS = 97 * DAY_MS;
const AGAIN_MS = 14 * DAY_MS;
const AFTER_FAULT_MS = DAY_MS;

export interface ProviderLookUp {
  readonly db: Database;
  readonly clock: Clock;
  readonly resolver: Pick<Resolver, "mx">;
  readonly lanes: readonly Lane[];
}

export function lookUpMailboxProviders(deps: ProviderLookUp): Recurring {
  const { db, clock } = deps;
  return {
    name: "look-up-mailbox-providers",
    seconds: SECONDS,
    async run({ signal }) {
      const now = clock.now();
      const since = new Date(now.getTime() - WINDOW_MS);
      const domains = await listDomainsToLookUp(db, { since, now, most: MOST_DUE });
      let answers = 0;
      for (let first = 0; first < domains.length; first += BATCH) {
        const found = await findProviders(deps, domains.slice(first, first + BATCH), signal);
        // Without any answer the name servers are at fault, or the service stops: a later run tries again.
        if (found.length === 0) break;
        await saveProviders(db, found);
        answers += found.length;
      }
      await removeUnusedProviders(db, since);
      // Each answer leaves fewer domains that are due, so that the runs come to an end.
      if (answers > 0) throw new PutBack();
    },
  };
}

/** Domains for which our own name servers did not answer are left out, and so are those after an abort. */
async function findProviders(
  { resolver, lanes, clock }: ProviderLookUp,
  domains: readonly string[],
  signal: AbortSignal,
): Promise<FoundProvider[]> {
  const limit = createLimiter(CONCURRENT);
  const after = (milliseconds: number) => new Date(clock.now().getTime() + milliseconds);
  const found = domains.map((domain) =>
    limit(async (): Promise<FoundProvider[]> => {
      if (signal.aborted) return [];
      const answer = await resolver.mx(domain);
      if (answer.outcome === "failed") {
        const isOurs = answer.isUnanswered === true && answer.othersAnswered !== true;
        return isOurs ? [] : [{ domain, provider: null, dueAt: after(AFTER_FAULT_MS) }];
      }
      const records = answer.outcome === "found" ? answer.records : [];
      const hosts = records
        .toSorted((a, b) => a.preference - b.preference)
        .slice(0, MOST_HOSTS)
        .map(({ exchange }) => exchange);
      return [{ domain, provider: laneFor(hosts, lanes).name, dueAt: after(AGAIN_MS) }];
    }),
  );
  return (await Promise.all(found)).flat();
}
