/** Campaigns and autoresponders whose messages are not started. */
import type { Halted } from "#delivery/worker/delivery-worker.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { listStoppedAutoresponders } from "#sending/autoresponders/store.ts";
import { listHaltedIds } from "#sending/mail/presend-store.ts";

export async function findHalted(db: Queryable): Promise<Halted> {
  const [campaigns, autoresponders] = await Promise.all([listHaltedIds(db), listStoppedAutoresponders(db)]);
  return {
    paused: [...campaigns.paused, ...autoresponders.paused],
    cancelled: [...campaigns.cancelled, ...autoresponders.cancelled],
  };
}
