/** D5: the lease of five hundred waiting messages. */
import { QueueCursor } from "#delivery/queue/queue-cursor.ts";
import { releaseLeasesOf } from "#delivery/queue/settle-leases-store.ts";
import { newId } from "#platform/ids.ts";
import type { Figure } from "../table.ts";
import { compare, timeOf } from "./compare.ts";
import type { Installation } from "./installation.ts";

const LEASED = 500;
const MOST_MS = 20;

export async function compareQueueLeases(large: Installation, small: Installation): Promise<Figure[]> {
  const sides = {
    large: { installation: large, cursor: new QueueCursor() },
    small: { installation: small, cursor: new QueueCursor() },
  };
  const cost = async ({ installation, cursor }: (typeof sides)["large"]) => {
    const { delivery: db } = installation;
    const workerId = newId();
    const order = { workerId, priority: 0, bytes: 1e8, seconds: 60, saturated: [] } as const;
    let left = LEASED;
    const taken = await timeOf(async () => {
      while (left > 0) left -= (await cursor.lease(db, { ...order, limit: left })).length;
    });
    await releaseLeasesOf(db, workerId);
    return taken;
  };
  return [await compare({ what: `D5 lease of ${LEASED} messages`, cost, mostMs: MOST_MS, ...sides })];
}
