/** Recurring tasks that would put mail into the queue, or remove what waits, do nothing while sending is held. */
import type { Queryable } from "#platform/database/pool.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { findHold } from "./store.ts";

/**
 * The task, whose runs end at once while sending is held. After a restore, what a campaign or an autoresponder would queue
 * may have been sent already after the backup: the operator looks at them before the release.
 */
export function skipWhileHeld(db: Queryable, task: Recurring): Recurring {
  return {
    ...task,
    async run(context) {
      if ((await findHold(db)) === undefined) await task.run(context);
    },
  };
}
