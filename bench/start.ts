/** Measures the time from the program's start until it is ready, with an empty and with a used DATA_DIR. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProgram } from "#test/support/program.ts";
import { bootstrapKey } from "./setup.ts";
import { type Figure, grouped, median } from "./table.ts";

const RUNS = 3;
const MOST_FIRST_MS = 3_000;
const MOST_LATER_MS = 1_500;

export async function benchStart(): Promise<Figure[]> {
  const first: number[] = [];
  const later: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const dataDir = await mkdtemp(join(tmpdir(), "posthaste-start-"));
    for (const times of [first, later]) {
      const from = performance.now();
      await using _ = await startProgram({ DATA_DIR: dataDir, BOOTSTRAP_API_KEY: bootstrapKey });
      times.push(performance.now() - from);
    }
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
  return [
    figureOf("first start, empty DATA_DIR", median(first), MOST_FIRST_MS),
    figureOf("later start", median(later), MOST_LATER_MS),
  ];
}

function figureOf(what: string, milliseconds: number, most: number): Figure {
  return {
    what,
    measured: `${grouped(milliseconds)} ms`,
    aim: `≤ ${grouped(most)} ms`,
    isMet: milliseconds <= most,
  };
}
