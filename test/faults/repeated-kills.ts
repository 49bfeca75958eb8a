/** Kills random parts of the program at random moments, and starts it again if it has ended. */
import { setTimeout as delay } from "node:timers/promises";
import { type FaultRun, say } from "./fault-run.ts";
import { findVictims, killAll, type Victim, victims } from "./kill-targets.ts";
import type { Random } from "./random.ts";

const DELAY_MS = { least: 50, most: 1_500 };
/** One in so many starts may be killed before it is complete. */
const KILLED_IN_START = 4;

export interface Killing {
  readonly kills: number;
  readonly random: Random;
  /** True to continue; called before each kill with the number of kills so far. */
  readonly goesOn: (done: number) => Promise<boolean> | boolean;
  /** The progress of the work, for the output. */
  readonly progress: () => Promise<string> | string;
}

export interface Killed {
  readonly kills: number;
  /** Error texts of starts that failed without a kill meanwhile. */
  readonly failedStarts: readonly string[];
}

/** Kills until `goesOn` returns false; the program runs at the end. */
export async function killRepeatedly(
  { program, dataDir, groups }: FaultRun,
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
  // The program exits if its PostgreSQL is killed during the start. Like a supervisor, this starts it again.
  const supervise = () => {
    if (isStarting || program.isRunning) return;
    say(`the program has exited: ${program.recentOutput}`);
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
