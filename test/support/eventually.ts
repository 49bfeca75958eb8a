/** Waiting for something that another process or timer brings about. */
import { setTimeout as delay } from "node:timers/promises";

const DEADLINE_MS = 20_000;
const LOOK_MS = 20;

/** Looks again and again until `look` gives something; fails with what it waited for. */
export async function eventually<Found>(
  what: string,
  look: () => Promise<Found | undefined | false>,
  deadlineMs = DEADLINE_MS,
): Promise<Found> {
  for (const deadline = Date.now() + deadlineMs; Date.now() < deadline; await delay(LOOK_MS)) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
  }
  throw new Error(`waited ${deadlineMs} ms in vain for ${what}`);
}
