/**
 * Looks up the MX of recipient domains in the background, to name the mailbox provider behind each: the lane that delivery
 * has for these hosts. Domains without an MX, and hosts of no known provider, belong to the lane `default`.
 */

import type { Lane } from "#delivery/lanes/default-lanes.ts";
import { laneFor } from "#delivery/lanes/lanes-by-mx-host.ts";
import { isOwnSilence } from "#dns/own-silence.ts";
import type { Resolver } from "#dns/resolver-interface.ts";
import type { Clock } from "#platform/clock.ts";
import { createLimiter } from "#platform/concurrency.ts";
import type { Database } from "#platform/database/pool.ts";
import { PutBack } from "#platform/jobs/attempt.ts";
import { removeInBatches } from "#platform/jobs/remove-in-batches.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { SilentRounds } from "#platform/jobs/silent-rounds.ts";
import { DAY_MS, MINUTE_MS } from "#platform/time-units.ts";
import {
  type FoundProvider,
  listDomainsToLookUp,
  noteDomains,
  removeUnseenDomains,
  saveProviders,
} from "./store.ts";

const SECONDS = 900;
/** Less than the pause between rounds, so that a workspace is visited once in each. */
const VISITED_AGAIN_MS = 10 * MINUTE_MS;
/** Workspaces whose domains are noted in one statement, and domains of each. */
const MOST_NOTED = { workspaces: 50, domains: 1_000 };
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
const AFTER_SILENCE_MS = 15 * MINUTE_MS;

export interface ProviderLookUp {
  readonly db: Database;
  readonly clock: Clock;
  readonly resolver: Pick<Resolver, "mx">;
  readonly lanes: readonly Lane[];
}

export function lookUpMailboxProviders(deps: ProviderLookUp): Recurring {
  const { db, clock } = deps;
  const silentRounds = new SilentRounds();
  return {
    name: "look-up-mailbox-providers",
    seconds: SECONDS,
    async run({ signal }) {
      const now = clock.now();
      const since = new Date(now.getTime() - WINDOW_MS);
      const visitedBefore = new Date(now.getTime() - VISITED_AGAIN_MS);
      const hasMore = await noteDomains(db, { now, since, visitedBefore, most: MOST_NOTED });
      await removeInBatches(signal, (most) => removeUnseenDomains(db, { now, since }, most));
      const domains = await listDomainsToLookUp(db, now, MOST_DUE);
      for (let first = 0; first < domains.length && !signal.aborted; first += BATCH) {
        const { found, isAnswered } = await findProviders(deps, domains.slice(first, first + BATCH), signal);
        if (!isAnswered && !signal.aborted) throw silentRounds.noteSilence();
        silentRounds.noteAnswer();
        await saveProviders(db, found);
      }
      if (hasMore || domains.length === MOST_DUE) throw new PutBack();
    },
  };
}

interface Answers {
  readonly found: readonly FoundProvider[];
  /** Whether our own name servers have answered at all. */
  readonly isAnswered: boolean;
}

/** Domains that an abort leaves out are still due. */
async function findProviders(
  { resolver, lanes, clock }: ProviderLookUp,
  domains: readonly string[],
  signal: AbortSignal,
): Promise<Answers> {
  const limit = createLimiter(CONCURRENT);
  const after = (milliseconds: number) => new Date(clock.now().getTime() + milliseconds);
  let isAnswered = false;
  const found = domains.map((domain) =>
    limit(async (): Promise<FoundProvider[]> => {
      if (signal.aborted) return [];
      const answer = await resolver.mx(domain);
      const isSilent = isOwnSilence(answer);
      isAnswered ||= !isSilent;
      if (answer.outcome === "failed") {
        return [{ domain, provider: null, dueAt: after(isSilent ? AFTER_SILENCE_MS : AFTER_FAULT_MS) }];
      }
      const records = answer.outcome === "found" ? answer.records : [];
      const hosts = records
        .toSorted((a, b) => a.preference - b.preference)
        .slice(0, MOST_HOSTS)
        .map(({ exchange }) => exchange);
      return [{ domain, provider: laneFor(hosts, lanes).name, dueAt: after(AGAIN_MS) }];
    }),
  );
  return { found: (await Promise.all(found)).flat(), isAnswered };
}
