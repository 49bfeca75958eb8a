/**
 * What was taken for a message and is given back: it was never sent, because its recipient is suppressed by now or its
 * campaign was cancelled.
 */
import type { MovedMessage } from "../messages/outcome.ts";
import type { Queryable } from "../platform/database/pool.ts";
import { noteGivenBack } from "./give-back-store.ts";

export async function giveBack(tx: Queryable, moved: readonly MovedMessage[], now: Date): Promise<void> {
  const free = moved.filter(({ status, source }) => unsent.has(status) && source !== "platform");
  if (free.length > 0) await noteGivenBack(tx, free, now);
}

const unsent: ReadonlySet<string> = new Set(["suppressed", "cancelled"]);
