/**
 * Kills Posthaste repeatedly while it accepts and delivers mail, and then checks the result:
 *
 *     npm run kill-loop -- --kills 50 --messages 20000 [--rate 400] [--workers 2] [--seed N]
 *
 * A client sends without pause, and at random moments a random part of the program gets SIGKILL (kill-targets.ts). At
 * the end the queue must become empty without help. The script exits with 1 if
 * - an accepted message did not arrive, or arrived twice without being in flight at a kill,
 * - an Idempotency-Key got two message ids,
 * - an invariant of the database is broken (invariants.ts).
 */
import { platform } from "#test/support/scene.ts";
import {
  apiKey,
  conclude,
  inDatabase,
  say,
  smallMail,
  startFaultRun,
  waitForEmptyQueue,
} from "./fault-run.ts";
import { brokenInvariants, countStates } from "./invariants.ts";
import { findLostOrDuplicated } from "./lost-or-duplicated.ts";
import { readNumbers } from "./options.ts";
import { randomFrom } from "./random.ts";
import { killRepeatedly } from "./repeated-kills.ts";
import { startRetryingClient } from "./retrying-client.ts";

const { kills, messages, rate, workers, seed } = readNumbers({
  kills: 50,
  messages: 20_000,
  rate: 400,
  workers: 1,
});
say(`seed ${seed}, ${workers} delivery processes`);
const run = await startFaultRun({ workers });
const client = startRetryingClient({
  url: () => run.program.url,
  apiKey,
  rate,
  emailFor(number) {
    const mail = smallMail(number);
    return { ...mail, body: `${mail.body}\n`.repeat(1 + (number % 50)) };
  },
});
const { failedStarts } = await killRepeatedly(run, {
  kills,
  random: randomFrom(seed),
  goesOn: (done) => done < kills || client.accepted.size < messages,
  progress: () => `${client.accepted.size} accepted`,
});
await client.finish();
const timeouts = await waitForEmptyQueue(run);
await run.program.kill("SIGTERM");

const count = await run.mx.count();
const { states, invariants } = await inDatabase(run, async (db) => ({
  states: await countStates(db),
  invariants: await brokenInvariants(db),
}));
const ids = [...client.accepted.values()];
say(`accepted             ${ids.length} (${client.unanswered} requests without an answer, retried)`);
say(`in the database      ${JSON.stringify(states)}`);
const domain = platform.PLATFORM_FROM.split("@")[1];
const faulty = findLostOrDuplicated(
  count,
  ids.map((id) => `${id}@${domain}`),
);
const stored = Object.values(states).reduce((sum, amount) => sum + amount, 0);
await conclude(
  run,
  [
    ...failedStarts,
    ...timeouts,
    ...faulty,
    ...client.contradicted.map((key) => `two ids for the Idempotency-Key ${key}`),
    ...client.refused.slice(0, 3).map((answer) => `an answer that a correct client must not get: ${answer}`),
    ...(stored === ids.length ? [] : [`${stored} messages in the database for ${ids.length} accepted`]),
    ...invariants,
  ],
  seed,
);
