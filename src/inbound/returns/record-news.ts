/** News of one message that came by mail, through the door of all outcomes. */
import { recordOutcomes } from "../../messages/door.ts";
import type { OnMoved, Outcome } from "../../messages/outcome.ts";
import type { Queryable } from "../../platform/database/pool.ts";

/** Says whether it moved the message: the second time it does not. */
export async function recordNews(tx: Queryable, outcome: Outcome, onMoved: OnMoved): Promise<boolean> {
  let isNew = false;
  await recordOutcomes(tx, [outcome], async (inside, moved) => {
    isNew = true;
    await onMoved(inside, moved);
  });
  return isNew;
}
