/**
 * What follows in the rest of the house from an outcome (messages/door.ts): one function for every process that hears of
 * outcomes, for the order of its steps is the order in which everybody locks.
 */
import { markLost, suppressLost } from "./audience/suppression-lists/lost-addresses.ts";
import { lostAmong, type OnMoved } from "./messages/outcome.ts";
import type { Clock } from "./platform/clock.ts";
import { countMoved, countRecipients, holdDays } from "./sending/campaigns/counters-store.ts";
import { giveBack } from "./sending/give-back.ts";

/**
 * People first, then days of lists, memberships and their counters, the counters of campaigns, notes on the meter (which wait
 * for nobody), and at the end the lists of bounces and complaints.
 */
export function createReactions(clock: Clock): OnMoved {
  return async (tx, moved) => {
    const lost = lostAmong(moved);
    const now = clock.now();
    await countRecipients(tx, moved);
    await holdDays(tx, moved, now);
    await markLost(tx, lost, now);
    await countMoved(tx, moved);
    await giveBack(tx, moved, now);
    await suppressLost(tx, lost);
  };
}
