/** Kill after kill at random moments, and a start after each that took the program. */
import { setTimeout as delay } from "node:timers/promises";
import { findVictims, killAll, type Victim, victims } from "./kills.ts";
import type { Random } from "./random.ts";
import { type Stage, say } from "./stage.ts";

const DELAY_MS = { least: 50, most: 1_500 };
/** One start in so many is killed before it is complete. */
const KILLED_IN_START = 4;

export interface Killing {
  readonly kills: number;
  readonly random: Random;
  /** Is there work to wait for after the last kill, or none left for the next? Asked before each. */
  readonly goesOn: (done: number) => Promise<boolean> | boolean;
  /** How far the work is. */
  readonly progress: () => Promise<string> | string;
}

export interface Killed {
  readonly kills: number;
  /** What starts said that failed though nobody was killed meanwhile. */
  readonly failedStarts: readonly string[];
}

/** Kills until there were enough of them and nothing goes on; leaves the program running. */
export async function killAgainAndAgain(
  { program, dataDir, groups }: Stage,
  { kills, random, goesOn, progress }: Killing,
): Promise<Killed> {
  const counts = new Map<Victim, number>();
  const failedStarts: string[] = [];
  let done = 0;
  let isStarting = false;
  let starting: Promise<void> = Promise.resolve();
  const start = () => {
    const before = done;
    isStarting = true;
    starting = program
      .start()
      .catch((fault: Error) => {
        if (done === before) failedStarts.push(fault.message);
      })
      .finally(() => {
        isStarting = false;
      });
    groups.add(program.pid);
  };
  // A start whose PostgreSQL was killed gives up, and then a supervisor starts it again.
  const supervise = () => {
    if (isStarting || program.isRunning) return;
    say(`it gave up: ${program.lastWords}`);
    start();
  };
  while (await goesOn(done)) {
    supervise();
    if (random.between(1, KILLED_IN_START) > 1) await starting;
    await delay(random.between(DELAY_MS.least, DELAY_MS.most));
    if (done >= kills) continue;
    const victim = random.pick(victims);
    const pids = await findVictims(victim, { pid: program.pid, dataDir }, random);
    if (pids.length === 0) continue;
    killAll(pids);
    done += 1;
    counts.set(victim, (counts.get(victim) ?? 0) + 1);
    say(`${done} of ${kills}: ${victim} (${pids.length}), ${await progress()}`);
    if (!pids.includes(program.pid)) continue;
    await starting;
    start();
  }
  await starting;
  supervise();
  await starting;
  say(`kills                ${JSON.stringify(Object.fromEntries(counts))}`);
  return { kills: done, failedStarts };
}
