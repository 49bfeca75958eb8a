/** For how long a message's return path takes reports of its delivery. */
import type { Queryable } from "#platform/database/pool.ts";
import { findLastMove } from "./message-store.ts";

const MOST_AGE_MS = 30 * 86_400_000;

/**
 * Thirty days after something last happened to the message, which may have waited long before it went out (a paused
 * campaign). The log is not asked about a young one.
 */
export async function isTooOld(db: Queryable, messageId: string, now: Date): Promise<boolean> {
  const isPast = (time: Date) => now.getTime() - time.getTime() > MOST_AGE_MS;
  if (!isPast(acceptedAt(messageId))) return false;
  const moved = await findLastMove(db, messageId);
  return moved === undefined || isPast(moved);
}

/** Ids begin with the time of acceptance (RFC 9562 section 5.7). */
function acceptedAt(messageId: string): Date {
  return new Date(Number.parseInt(messageId.replaceAll("-", "").slice(0, 12), 16));
}
