/**
 * Measures acceptance: `POST /emails/send` over 64 connections, each 201 after its commit. The yardstick is the bare
 * handler (bare-handler.ts) with the same load and PostgreSQL. Runs of both alternate, so that other load on the machine
 * affects both. Only the API runs; nothing is delivered.
 */

import { startProgram } from "#test/support/program.ts";
import { startBareHandler } from "./bare-handler.ts";
import { type HttpLoadResult, runHttpLoad } from "./http-load.ts";
import { memoryOf } from "./machine.ts";
import { messageLoad } from "./message-load.ts";
import type { BenchSetup } from "./setup.ts";
import { type Figure, grouped, medianBy } from "./table.ts";

const SIZES = [1_000, 10_000];
const CONNECTIONS = 64;
const RUNS = 3;
const SECONDS = 4;
const WARM_UP_SECONDS = 2;
const LEAST_RATIO = 0.5;
const MOST_P99_MS = 25;

export async function benchAccept(setup: BenchSetup): Promise<Figure[]> {
  await using service = await startProgram(setup.environment, ["serve", "--roles", "api"]);
  await using bare = await startBareHandler(setup.databaseUrl);
  const figures: Figure[] = [];
  for (const size of SIZES) {
    const how = { connections: CONNECTIONS, seconds: SECONDS, warmUpSeconds: WARM_UP_SECONDS };
    const load = messageLoad(setup, service.url, how, size);
    const pairs: { bare: HttpLoadResult; service: HttpLoadResult }[] = [];
    for (let run = 0; run < RUNS; run++) {
      pairs.push({
        bare: await runHttpLoad({ ...load, port: bare.port, path: "/", headers: {} }),
        service: await runHttpLoad(load),
      });
    }
    figures.push(figureOf(size, medianBy(pairs, ratioOf)));
  }
  const memory = await memoryOf(service.pid);
  figures.push({
    what: "memory of the API process after that",
    measured: `${memory.join(" + ")} MiB`,
    aim: "",
    isMet: null,
  });
  return figures;
}

interface Pair {
  readonly bare: HttpLoadResult;
  readonly service: HttpLoadResult;
}

function ratioOf({ bare, service }: Pair): number {
  return service.rate / bare.rate;
}

function figureOf(size: number, pair: Pair): Figure {
  const ratio = ratioOf(pair);
  return {
    what: `accept, ${size / 1000} KB body`,
    measured: describe(pair.service),
    yardstick: `bare handler ${describe(pair.bare)}`,
    ratio,
    aim: `ratio ≥ ${LEAST_RATIO}, p99 < ${MOST_P99_MS} ms`,
    isMet: ratio >= LEAST_RATIO && pair.service.p99 < MOST_P99_MS,
  };
}

function describe({ rate, p50, p99 }: HttpLoadResult): string {
  return `${grouped(rate)}/s, p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms`;
}
