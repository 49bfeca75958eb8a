/**
 * Measures how failing destinations slow down others: the delivery rate of ten healthy domains alone, and together with
 * as many messages for five domains whose hosts tarpit, answer 421 or disconnect during the message. All messages are in
 * one line of the queue, healthy and failing in turn.
 */
import { performance } from "node:perf_hooks";
import sql from "sql-template-tag";
import { type FakeMxOptions, startFakeMx } from "#test/support/fake-mx.ts";
import { DROP, SLOW } from "#test/support/fake-mx-scripts.ts";
import { startProgram } from "#test/support/program.ts";
import { hasReceived, type Receivers, recipientDomain, startReceivers } from "./receivers.ts";
import { seedMessages } from "./seed.ts";
import type { BenchSetup } from "./setup.ts";
import { type Figure, grouped, medianBy } from "./table.ts";

const PAIRS = 3;
const HEALTHY = 15_000;
const WARM_UP = 3_000;
const HTML_LENGTH = 10_000;
const LEAST_RATIO = 0.9;
const TARPIT_MS = 600_000;

const failures: readonly FakeMxOptions["answers"][] = [
  { banner: SLOW },
  { rcpt: SLOW },
  { body: DROP },
  { banner: "421 4.3.2 Not now" },
  { rcpt: "421 4.3.2 Not now" },
];

export async function benchSick(setup: BenchSetup): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack();
  const receivers = stack.use(await startReceivers(setup));
  for (const [at, answers = {}] of failures.entries()) {
    // The hosts share one port and differ by address.
    const host = `127.0.0.${at + 2}`;
    stack.use(await startFakeMx({ host, port: receivers.mx.port, keep: false, slowMs: TARPIT_MS, answers }));
    receivers.dns.zone[failingDomain(at)] = { MX: [[10, `mx.${failingDomain(at)}`]] };
    receivers.dns.zone[`mx.${failingDomain(at)}`] = { A: [host] };
  }
  const mixed = (at: number) => (at % 2 === 0 ? recipientDomain(at / 2) : failingDomain((at - 1) / 2));
  const pairs: { readonly alone: number; readonly among: number }[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    const alone = await rateOf(setup, receivers, HEALTHY, recipientDomain);
    pairs.push({ alone, among: await rateOf(setup, receivers, 2 * HEALTHY, mixed) });
  }
  const { alone, among } = medianBy(pairs, (pair) => pair.among / pair.alone);
  return [
    {
      what: "healthy domains while five are sick",
      measured: `${grouped(among)} messages/s`,
      yardstick: `${grouped(alone)} messages/s without them`,
      ratio: among / alone,
      aim: `≥ ${LEAST_RATIO}`,
      isMet: among / alone >= LEAST_RATIO,
    },
  ];
}

function failingDomain(at: number): string {
  return `sick-${at % failures.length}.test`;
}

/** Messages per second of the healthy domains. */
async function rateOf(
  setup: BenchSetup,
  { mx, environment }: Receivers,
  count: number,
  domainOf: (at: number) => string,
): Promise<number> {
  await seedMessages(setup, { count, htmlLength: HTML_LENGTH, domainOf });
  await mx.count({ reset: true });
  const service = await startProgram(environment, ["serve", "--roles", "api,delivery"]);
  const before = await hasReceived(mx, WARM_UP);
  const from = performance.now();
  await hasReceived(mx, HEALTHY);
  const rate = (HEALTHY - before) / ((performance.now() - from) / 1000);
  await service.kill("SIGKILL");
  await setup.database.run(sql`truncate delivery_queue, messages, message_contents, message_events`);
  return rate;
}
