/**
 * What was taken for a message and is given back, in the transaction that records how it ended: it was never sent,
 * because its recipient is suppressed by now or its campaign was cancelled; or our program failed at it. Only what no
 * mail server was asked to take is given back: who has one could else take a mail, ask for it again later, and cancel it
 * then. What waited for a way out, or for a DNS that answers, was put off without anybody having been asked.
 */
import { type MovedMessage, OUR_FAULT } from "#messages/message/outcome.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { noteGivenBack } from "./refund-store.ts";

/** What decides. */
type Ended = Pick<
  MovedMessage,
  "workspaceId" | "messageId" | "source" | "isSms" | "from" | "status" | "code" | "enhancedCode"
>;

export async function giveBack(tx: Queryable, moved: readonly Ended[], now: Date): Promise<void> {
  const unused = moved.filter((one) => isMetered(one) && isUnused(one));
  if (unused.length > 0) await noteGivenBack(tx, unused, now);
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
