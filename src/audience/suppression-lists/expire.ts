/** Entries that the service made for hard bounces do not have to stand for ever: mailboxes come back, and get new owners. */
import type { Database } from "#platform/database/pool.ts";
import { listListsWithBouncesBefore, removeBouncesBefore } from "./entry-store.ts";
import { lockForRemoval } from "./store.ts";

const STEP = 5_000;

/** Takes hard bounces from before a time off all lists, in steps of bounded size. Complaints stay. */
export async function expireHardBounces(db: Database, before: Date): Promise<void> {
  for (const list of await listListsWithBouncesBefore(db, before)) {
    const step = () =>
      db.transaction(async (tx) =>
        (await lockForRemoval(tx, list)) ? removeBouncesBefore(tx, list, before, STEP) : 0,
      );
    while ((await step()) === STEP);
  }
}
