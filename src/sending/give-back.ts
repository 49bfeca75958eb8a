/**
 * What was taken for a message and is given back, in the transaction that records how it ended: it was never sent,
 * because its recipient is suppressed by now or its campaign was cancelled; or it failed for a fault of ours. These are
 * ends, which a message reaches once.
 */
import type { MovedMessage } from "../messages/outcome.ts";
import type { Queryable } from "../platform/database/pool.ts";
import { noteGivenBack } from "./give-back-store.ts";

/** What decides. */
type Ended = Pick<
  MovedMessage,
  "workspaceId" | "source" | "isSms" | "status" | "code" | "enhancedCode" | "isOwnRelay"
>;

export async function giveBack(tx: Queryable, moved: readonly Ended[], now: Date): Promise<void> {
  const free = moved.filter((one) => isMetered(one) && (unsent.has(one.status) || isOurFault(one)));
  if (free.length > 0) await noteGivenBack(tx, free, now);
}

/** The service's own mail and SMS take nothing from the allowance for emails. */
function isMetered({ source, isSms }: Ended): boolean {
  return source !== "platform" && !isSms;
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
 * failed (delivery/conclusion.ts). A receiver that put us off or was not there until the message expired is none of ours,
 * and neither is what a relay of the workspace's own says, which may be anything, also of mail that it took.
 */
function isOurFault({ status, code, enhancedCode, isOwnRelay }: Ended): boolean {
  if (status !== "failed" || isOwnRelay) return false;
  return code === null ? ourFaults.has(enhancedCode ?? "") : code >= 500;
}
