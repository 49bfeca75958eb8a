/** Waits for the effect of another process or of a timer. */
import { setTimeout as delay } from "node:timers/promises";

const DEADLINE_MS = 60_000;
const LOOK_MS = 20;

/** Calls `look` until it returns something. @throws after `deadlineMs`, with `what` in the message */
export async function eventually<Found>(
  what: string,
  look: () => Promise<Found | undefined | false>,
  deadlineMs = DEADLINE_MS,
): Promise<Found> {
  for (const deadline = Date.now() + deadlineMs; Date.now() < deadline; await delay(LOOK_MS)) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
  }
  throw new Error(`timed out after ${deadlineMs} ms waiting for ${what}`);
}
