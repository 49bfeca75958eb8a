/**
 * What was taken for a message and is given back, in the transaction that records how it ended: it was never sent,
 * because its recipient is suppressed by now or its campaign was cancelled; or it failed for a fault of ours. These are
 * ends, which a message reaches once.
 */
import type { MovedMessage } from "../messages/outcome.ts";
import type { Queryable } from "../platform/database/pool.ts";
import { noteGivenBack } from "./give-back-store.ts";

export async function giveBack(tx: Queryable, moved: readonly MovedMessage[], now: Date): Promise<void> {
  const free = moved.filter(
    (one) => one.source !== "platform" && (unsent.has(one.status) || isOurFault(one)),
  );
  if (free.length > 0) await noteGivenBack(tx, free, now);
}

const unsent: ReadonlySet<string> = new Set(["suppressed", "cancelled"]);

/** Enhanced codes (RFC 3463) that are our own word, said without a reply of anybody. */
const ourFaults: ReadonlySet<string> = new Set([
  // It could not be composed, or a program error ended it (delivery/dispatcher.ts).
  "5.3.0",
  // Until the end nobody told us where to bring it (delivery/mx.ts): no DNS of ours got an answer.
  "4.4.3",
]);

/**
 * A receiver's refusal for good is a bounce, unless it says that we spoke wrongly or could not log in: then it has
 * failed (delivery/conclusion.ts). A receiver that put us off or was not there until the message expired is none of ours.
 */
function isOurFault({ status, code, enhancedCode }: MovedMessage): boolean {
  if (status !== "failed") return false;
  return code === null ? ourFaults.has(enhancedCode ?? "") : code >= 500;
}
