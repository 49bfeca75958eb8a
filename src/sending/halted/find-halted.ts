/** What is not started now: everything while sending is held, and the messages of paused campaigns and autoresponders. */
import { findHold } from "#delivery/hold/store.ts";
import type { Halted } from "#delivery/worker/delivery-worker.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { listStoppedAutoresponders } from "#sending/autoresponders/store.ts";
import { listHaltedIds } from "#sending/mail/presend-store.ts";

export async function findHalted(db: Queryable): Promise<Halted> {
  // One after the other: in a transaction they share a connection.
  const hold = await findHold(db);
  const campaigns = await listHaltedIds(db);
  const autoresponders = await listStoppedAutoresponders(db);
  return {
    isSendingHeld: hold !== undefined,
    paused: [...campaigns.paused, ...autoresponders.paused],
    cancelled: [...campaigns.cancelled, ...autoresponders.cancelled],
  };
}
