/**
 * Kills Posthaste again and again while it accepts and delivers mail, and then counts:
 *
 *     npm run kill-loop -- --kills 50 --messages 20000 [--rate 400] [--workers 2] [--seed N]
 *
 * A client sends without pause, and at random moments a random part of the program gets SIGKILL (kills.ts). At the end
 * everything must have come to rest by itself. It exits with 1 when a message that was accepted never came, when one
 * came twice that was not in flight, when an Idempotency-Key got two ids, or when the database is not as it must be.
 */
import { platform } from "#test/support/scene.ts";
import { brokenInvariants, countStates } from "./invariants.ts";
import { killAgainAndAgain } from "./kill-again.ts";
import { readNumbers } from "./options.ts";
import { randomFrom } from "./random.ts";
import { startSender } from "./sender.ts";
import { apiKey, conclude, inDatabase, openStage, recipientDomain, say, waitForRest } from "./stage.ts";
import { findMiscarried } from "./tally.ts";

const { kills, messages, rate, workers, seed } = readNumbers({
  kills: 50,
  messages: 20_000,
  rate: 400,
  workers: 1,
});
say(`seed ${seed}, ${workers} delivery processes`);
const stage = await openStage({ workers });
const sender = startSender({
  url: () => stage.program.url,
  apiKey,
  rate,
  emailFor: (number) => ({
    to: `user${number}@${recipientDomain(number)}`,
    subject: `Message ${number}`,
    body: `<p>This is message ${number}.</p>\n`.repeat(1 + (number % 50)),
  }),
});
const { failedStarts } = await killAgainAndAgain(stage, {
  kills,
  random: randomFrom(seed),
  goesOn: (done) => done < kills || sender.accepted.size < messages,
  progress: () => `${sender.accepted.size} accepted`,
});
await sender.finish();
const unrest = await waitForRest(stage);
await stage.program.kill("SIGTERM");

const count = await stage.mx.count();
const { states, invariants } = await inDatabase(stage, async (db) => ({
  states: await countStates(db),
  invariants: await brokenInvariants(db),
}));
const ids = [...sender.accepted.values()];
say(`accepted             ${ids.length} (${sender.unanswered} requests without an answer, sent again)`);
say(`in the database      ${JSON.stringify(states)}`);
const domain = platform.PLATFORM_FROM.split("@")[1];
const miscarried = findMiscarried(
  count,
  ids.map((id) => `${id}@${domain}`),
);
const stored = Object.values(states).reduce((sum, amount) => sum + amount, 0);
await conclude(
  stage,
  [
    ...failedStarts,
    ...unrest,
    ...miscarried,
    ...sender.contradicted.map((key) => `two ids for the Idempotency-Key ${key}`),
    ...sender.refused.slice(0, 3).map((answer) => `an answer that no client should get: ${answer}`),
    ...(stored === ids.length ? [] : [`${stored} messages in the database for ${ids.length} accepted`]),
    ...invariants,
  ],
  seed,
);
