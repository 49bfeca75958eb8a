/**
 * What was taken for a message and is given back, in the transaction that records how it ended: it was never sent,
 * because its recipient is suppressed by now or its campaign was cancelled; or our program failed at it. Only what was
 * never tried is given back: who has a mail server could else take a mail, ask for it again later, and cancel it then.
 */
import { type MovedMessage, OUR_FAULT } from "../messages/outcome.ts";
import type { Queryable } from "../platform/database/pool.ts";
import { noteGivenBack } from "./give-back-store.ts";

/** What decides. */
type Ended = Pick<
  MovedMessage,
  "workspaceId" | "source" | "isSms" | "from" | "status" | "code" | "enhancedCode"
>;

export async function giveBack(tx: Queryable, moved: readonly Ended[], now: Date): Promise<void> {
  const free = moved.filter((one) => isMetered(one) && one.from === "queued" && isUnused(one));
  if (free.length > 0) await noteGivenBack(tx, free, now);
}

/** The service's own mail and SMS take nothing from the allowance for emails. */
function isMetered({ source, isSms }: Ended): boolean {
  return source !== "platform" && !isSms;
}

const unsent: ReadonlySet<string> = new Set(["suppressed", "cancelled"]);

/** Nothing that a server or a DNS of somebody else says, or does not say, is a fault of ours. */
function isUnused({ status, code, enhancedCode }: Ended): boolean {
  return unsent.has(status) || (status === "failed" && code === null && enhancedCode === OUR_FAULT);
}
