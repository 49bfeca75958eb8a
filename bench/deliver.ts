/**
 * Measures delivery: all messages are in the queue when the delivery process starts. They go to ten recipient domains on
 * loopback, each signed with RSA-2048, and count when the receiver and the database have them. Before each run OpenSSL
 * measures how many such signatures the machine can make.
 */
import { setTimeout as delay } from "node:timers/promises";
import { startProgram } from "#test/support/program.ts";
import { cores, memoryOf, signaturesPerSecond } from "./machine.ts";
import { hasReceived, isQueueUsed, LOOK_MS, recipientDomain, startReceivers } from "./receivers.ts";
import { seedMessages } from "./seed.ts";
import type { BenchSetup } from "./setup.ts";
import { type Figure, grouped, medianBy } from "./table.ts";

const RUNS = 3;
const MESSAGES = 60_000;
/** Messages before the measurement begins, because code is slow when it runs for the first time. */
const WARM_UP = 10_000;
const HTML_LENGTH = 10_000;
const SIGNING_SECONDS = 3;
/** The aim for each core. */
const LEAST_PER_CORE = 1_250;

interface Run {
  readonly rate: number;
  readonly signatures: number | null;
  readonly memory: readonly number[];
}

export async function benchDeliver(setup: BenchSetup): Promise<Figure[]> {
  await using receivers = await startReceivers(setup);
  const { mx, environment } = receivers;
  const runs: Run[] = [];
  for (let run = 0; run < RUNS; run++) {
    await seedMessages(setup, { count: MESSAGES, htmlLength: HTML_LENGTH, domainOf: recipientDomain });
    const signatures = await signaturesPerSecond(SIGNING_SECONDS);
    await using service = await startProgram(environment, ["serve", "--roles", "api,delivery"]);
    const before = await hasReceived(mx, WARM_UP);
    const from = performance.now();
    await hasReceived(mx, MESSAGES);
    while (await isQueueUsed(setup.database)) await delay(LOOK_MS);
    const seconds = (performance.now() - from) / 1000;
    const { received, copies } = await mx.count({ reset: true });
    if (received !== MESSAGES || copies.size !== MESSAGES)
      throw new Error(`${received} messages with ${copies.size} ids arrived, expected ${MESSAGES}`);
    const memory = await memoryOf(service.pid);
    runs.push({ rate: (MESSAGES - before) / seconds, signatures, memory });
  }
  return figuresOf(medianBy(runs, ({ rate, signatures }) => rate / (signatures ?? 1)));
}

function figuresOf({ rate, signatures, memory }: Run): Figure[] {
  const least = LEAST_PER_CORE * cores;
  return [
    {
      what: `deliver, ${HTML_LENGTH / 1000} KB, RSA-2048`,
      measured: `${grouped(rate)} messages/s`,
      yardstick: signatures === null ? "openssl not found" : `openssl ${grouped(signatures)} signatures/s`,
      ratio: signatures === null ? null : rate / signatures,
      aim: `≥ ${grouped(least)}/s on ${cores} cores`,
      isMet: rate >= least,
    },
    {
      what: "memory of API and delivery process",
      measured: `${memory.join(" + ")} MiB`,
      aim: "",
      isMet: null,
    },
  ];
}
