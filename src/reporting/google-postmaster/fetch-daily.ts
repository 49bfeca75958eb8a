/**
 * Fetches the statistics of each verified sending domain from Google Postmaster Tools once a day. Stored statistics
 * stay until Google returns new ones: a failure is logged, and the domain is retried later.
 */
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { PutBack } from "#platform/jobs/attempt.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import type { Log } from "#platform/log/log.ts";
import { HOUR_MS } from "#platform/time-units.ts";
import { type GoogleApi, type GoogleDomainStats, NotAuthorised, type PostmasterAccount } from "./api.ts";
import { type DueDomain, listDueDomains, saveAuthorisation, saveStats, updateDueAt } from "./store.ts";

/** How often due domains are looked for, and the credentials checked. */
const SECONDS = 3_600;
/** Less than a day, so that the hour of a domain does not drift. */
const ASK_AGAIN_MS = 24 * HOUR_MS - HOUR_MS / 2;
const AFTER_FAULT_MS = HOUR_MS / 2;
/** Domains fetched one after the other with one access token, which is valid for an hour, even when Google is slow. */
const BATCH = 50;
/** After this many failures in a row the run stops, because they are not about single domains. */
const MOST_FAULTS = 3;

export interface PostmasterDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly google: GoogleApi;
}

export function fetchGoogleStatsDaily(deps: PostmasterDeps): Recurring {
  return {
    name: "ask-google-postmaster",
    seconds: SECONDS,
    async run({ signal, log }) {
      const due = await listDueDomains(deps.db, deps.clock.now(), BATCH);
      const mayGoOn = await askAbout(deps, due, signal, log);
      if (mayGoOn && due.length === BATCH) throw new PutBack();
    },
  };
}

/** @returns false when the run should stop */
async function askAbout(
  deps: PostmasterDeps,
  due: readonly DueDomain[],
  signal: AbortSignal,
  log: Log,
): Promise<boolean> {
  const { db, clock, google } = deps;
  let hasAnswered = due.length === 0;
  let faults = 0;
  try {
    const account = await google.authorise(clock.now(), signal);
    for (const one of due) {
      if (await askAboutOne(deps, account, one, signal, log)) {
        hasAnswered = true;
        faults = 0;
      } else if (++faults === MOST_FAULTS) break;
    }
  } catch (fault) {
    if (!(fault instanceof NotAuthorised)) throw fault;
    log.warn({ reason: fault.message }, "Google Postmaster Tools rejected the credentials");
    await saveAuthorisation(db, false, clock.now());
    return false;
  }
  if (hasAnswered) await saveAuthorisation(db, true, clock.now());
  return faults < MOST_FAULTS;
}

/**
 * @returns whether Google answered
 * @throws NotAuthorised
 */
async function askAboutOne(
  { db, clock }: PostmasterDeps,
  account: PostmasterAccount,
  { workspace_id: workspaceId, domain }: DueDomain,
  signal: AbortSignal,
  log: Log,
): Promise<boolean> {
  const now = clock.now();
  const later = (milliseconds: number) => new Date(now.getTime() + milliseconds);
  let stats: GoogleDomainStats | undefined;
  try {
    stats = await account.findStats(domain, now, signal);
  } catch (err) {
    if (signal.aborted || err instanceof NotAuthorised) throw err;
    log.warn({ err, domain }, "Google Postmaster Tools request failed");
    await updateDueAt(db, workspaceId, domain, later(AFTER_FAULT_MS));
    return false;
  }
  await saveStats(db, workspaceId, domain, stats, later(ASK_AGAIN_MS));
  return true;
}
