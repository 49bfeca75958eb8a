/**
 * After a change of sending IPs or routing rules, mail that was held for a source address is tried at once. There may
 * be a million messages, so the change only records that there is work, and a recurring task does it.
 */
import type { Database, Queryable } from "#platform/database/pool.ts";
import { nilId, type WorkspaceId } from "#platform/ids.ts";
import { PutBack } from "#platform/jobs/attempt.ts";
import { hasten, type Recurring } from "#platform/jobs/schedule.ts";
import { listUnreleased, markReleased, raiseRoutingVersion } from "./store.ts";

const NAME = "release-held-back-mail";
/** Each change also makes the task due at once. */
const SECONDS = 300;
/** The task yields after this time, so that other recurring tasks run. */
const PLACE_MS = 20_000;

/**
 * The first call in each transaction that changes sending IPs or routing rules of a workspace. Delivery workers see the
 * new version with their next lease; concurrent changes wait until the transaction ends.
 */
export async function beginRoutingChange(tx: Queryable, workspaceId: WorkspaceId): Promise<void> {
  await raiseRoutingVersion(tx, workspaceId);
  await hasten(tx, NAME);
}

/**
 * Makes some of a workspace's held messages due, after the message with this id.
 * @returns the last id; null when none is left
 */
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
