/**
 * Commits the mails of one call in one transaction, each for itself: a mail that may not be sent is refused, and the others
 * are accepted. The messages of one mail are accepted together or not at all. Usually that is one statement, as for any
 * other batch.
 */
import { setTimeout as delay } from "node:timers/promises";
import { maySendAsEach } from "#identity/may-send-as.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { type ApiError, overloaded } from "#platform/errors.ts";
import { type Draft, insertDrafts } from "./accept-messages-statement.ts";
import {
  BUSY_MS,
  type CommitDeps,
  insertInOneStatement,
  sendersOf,
  tellLimit,
  unverifiedAddress,
} from "./commit-batch.ts";
import { findUncovered } from "./take-allowance.ts";

/** Why each mail is refused, in the order of the mails; null for those that are accepted. */
export type Refusals = readonly (ApiError | null)[];

/** Runs in the transaction, after the mails are inserted: to store the answer of the call. */
export type InSameTransaction = (tx: Queryable, refusals: Refusals) => Promise<void>;

/** Another transaction has locked the account of the workspace. */
class BusyAccount extends Error {}

/**
 * @param mails the drafts of each mail; all of one workspace
 * @param deadline on the clock of performance.now(): no try begins after it
 * @throws ApiError 503 at the deadline; whatever `alsoDo` throws, and nothing is stored then
 */
export async function commitEach(
  deps: CommitDeps,
  mails: readonly (readonly Draft[])[],
  { deadline, alsoDo }: { readonly deadline: number; readonly alsoDo: InSameTransaction },
): Promise<Refusals> {
  const refusals = await tryUntil(deadline, () => commitOnce(deps, mails, alsoDo));
  for (const [at, refusal] of refusals.entries()) {
    if (refusal !== null) tellLimit(deps.onLimit, mails[at] ?? [], refusal);
  }
  if (refusals.includes(null)) deps.onCommitted();
  return refusals;
}

async function tryUntil<Result>(deadline: number, work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    if (performance.now() >= deadline) {
      throw overloaded("The emails could not be stored in time: retry shortly");
    }
    try {
      return await work();
    } catch (fault) {
      if (!(fault instanceof BusyAccount)) throw fault;
    }
    await delay(BUSY_MS);
  }
}

function commitOnce(
  deps: CommitDeps,
  mails: readonly (readonly Draft[])[],
  alsoDo: InSameTransaction,
): Promise<Refusals> {
  return deps.db.transaction(async (tx) => {
    const isDone = await insertInOneStatement({ ...deps, db: tx }, mails.flat());
    const refusals = isDone ? mails.map(() => null) : await insertThoseAllowed(tx, deps, mails);
    await alsoDo(tx, refusals);
    return refusals;
  });
}

/** The allowance goes to the mails in their order: one that does not fit is refused, and leaves the rest to the others. */
async function insertThoseAllowed(
  tx: Queryable,
  { clock, plans, announceSuppressed }: CommitDeps,
  mails: readonly (readonly Draft[])[],
): Promise<Refusals> {
  const now = clock.now();
  const maySendAs = await maySendAsEach(tx, mails.flat().flatMap(sendersOf));
  const ofSenders = mails.map(
    (drafts) =>
      drafts.map((draft) => unverifiedAddress(draft, maySendAs)).find((one) => one !== null) ?? null,
  );
  // A mail that is refused for its sender takes nothing.
  const { refused, busy } = await findUncovered(
    tx,
    plans,
    mails.map((drafts, at) => (ofSenders[at] === null ? drafts.map(({ message }) => message) : [])),
    now,
  );
  if (busy.size > 0) throw new BusyAccount();
  const refusals = ofSenders.map((ofSender, at) => ofSender ?? refused.get(at) ?? null);
  const accepted = mails.filter((_, at) => refusals[at] === null).flat();
  await insertDrafts(tx, accepted, announceSuppressed, now);
  return refusals;
}
