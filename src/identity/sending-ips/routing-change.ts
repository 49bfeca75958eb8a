/**
 * What a change of sending IPs or routing rules entails: mail that was held back for an address is to try at once. There
 * may be a million messages, so the change only notes that there is something to do, and a recurring task does it.
 */
import type { Database, Queryable } from "#platform/database/pool.ts";
import { nilId, type WorkspaceId } from "#platform/ids.ts";
import { PutBack } from "#platform/jobs/attempt.ts";
import { hasten, type Recurring } from "#platform/jobs/schedule.ts";
import { listUnreleased, markReleased, raiseRoutingVersion } from "./store.ts";

const NAME = "release-held-back-mail";
/** Every change makes the task due at once. */
const SECONDS = 300;
/** Before others that recur have its place. */
const PLACE_MS = 20_000;

/**
 * First of all in every transaction that changes a workspace's sending IPs or routing rules: delivery workers see the
 * new version with their next lease, and nobody else changes them before the transaction ends.
 */
export async function beginRoutingChange(tx: Queryable, workspaceId: WorkspaceId): Promise<void> {
  await raiseRoutingVersion(tx, workspaceId);
  await hasten(tx, NAME);
}

/** Makes some of a workspace's mail due, those that come after this message; the last one's id, null when none is left. */
export type ReleaseSome = (workspaceId: WorkspaceId, after: string) => Promise<string | null>;

export function releaseHeldBackMail({
  db,
  releaseSome,
}: {
  readonly db: Database;
  readonly releaseSome: ReleaseSome;
}): Recurring {
  return {
    name: NAME,
    seconds: SECONDS,
    async run({ signal }) {
      const end = performance.now() + PLACE_MS;
      for (const { workspace_id: workspaceId, version } of await listUnreleased(db)) {
        let last: string | null = nilId;
        while (last !== null) {
          signal.throwIfAborted();
          if (performance.now() > end) throw new PutBack();
          last = await releaseSome(workspaceId, last);
        }
        await markReleased(db, workspaceId, version);
      }
    },
  };
}
