/**
 * Measures `POST /emails/batch` with 500 emails a call: how many it accepts per second. The yardstick is
 * `POST /emails/send` of the same process, over as many connections as in a full load. Runs of both alternate. Nothing is
 * delivered.
 */
import { startProgram } from "#test/support/program.ts";
import { runHttpLoad } from "./http-load.ts";
import { htmlOfLength } from "./mail-body.ts";
import { type BenchSetup, senderDomain } from "./setup.ts";
import { type Figure, grouped, medianBy } from "./table.ts";

const EMAILS = 500;
const BODY = 1_000;
const RUNS = 3;
const SINGLE = { connections: 64, seconds: 4, warmUpSeconds: 2 };
const BATCH = { connections: 2, seconds: 6, warmUpSeconds: 2 };
/** An email of a batch may cost at most 1.2 times as much as a single one. */
const LEAST_RATIO = 1 / 1.2;

export async function benchBatch(setup: BenchSetup): Promise<Figure[]> {
  await using service = await startProgram(setup.environment, ["serve", "--roles", "api"]);
  const target = { port: Number(new URL(service.url).port), headers: { "X-API-Key": setup.apiKey } };
  const common = { from_email: `shop@${senderDomain}`, subject: "Your order 00000000" };
  const html = htmlOfLength(BODY);
  const single = JSON.stringify({ ...common, to: "user00000000@example.test", body: html });
  const emails = Array.from({ length: EMAILS }, (_, at) => ({
    ...common,
    to: [`user${at}-00000000@example.test`],
    html,
  }));
  const pairs: Pair[] = [];
  for (let run = 0; run < RUNS; run++) {
    const alone = await runHttpLoad({ ...SINGLE, ...target, path: "/api/v1/emails/send", body: single });
    const many = await runHttpLoad({
      ...BATCH,
      ...target,
      path: "/api/v1/emails/batch",
      body: JSON.stringify({ emails }),
    });
    pairs.push({ single: alone.rate, batched: many.rate * EMAILS, p50: many.p50 });
  }
  const median = medianBy(pairs, ratioOf);
  return [
    {
      what: `batches of ${EMAILS} emails, ${BODY / 1_000} KB body`,
      measured: `${grouped(median.batched)} emails/s, p50 ${median.p50.toFixed(0)} ms a batch`,
      yardstick: `POST /emails/send ${grouped(median.single)}/s`,
      ratio: ratioOf(median),
      aim: `ratio ≥ ${LEAST_RATIO.toFixed(2)}`,
      isMet: ratioOf(median) >= LEAST_RATIO,
    },
  ];
}

interface Pair {
  /** Emails per second. */
  readonly single: number;
  readonly batched: number;
  readonly p50: number;
}

function ratioOf({ single, batched }: Pair): number {
  return batched / single;
}
