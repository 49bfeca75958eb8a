/**
 * Freezes one of two delivery processes beyond its leases while they send a campaign, wakes it, and then counts:
 *
 *     npm run frozen-worker -- --recipients 10000 [--pace 500] [--seed N]
 *
 * The other one takes over what the frozen one held. It exits with 1 when a message came twice whose final dot was not
 * out before the freeze, when somebody was not reached, or when what the woken one had to say changed what its
 * successor had written: then a message has two deliveries in its log, or a counter differs.
 */
import { setTimeout as delay } from "node:timers/promises";
import { draftCampaign, judgeCampaign, sendCampaign, waitForSent } from "./campaign.ts";
import { findVictims } from "./kills.ts";
import { readNumbers } from "./options.ts";
import { randomFrom } from "./random.ts";
import { conclude, openStage, say, waitForRest } from "./stage.ts";

/** A lease is 60 s; this is beyond it. */
const FROZEN_MS = 75_000;
/** By then every living conversation has gone on. */
const SETTLED_MS = 1_000;

const { recipients, pace, seed } = readNumbers({ recipients: 10_000, pace: 500 });
say(`seed ${seed}`);
const stage = await openStage({ workers: 2, pace });
const { mx, program } = stage;
const id = await draftCampaign(stage, recipients);
await sendCampaign(stage, id);
while ((await mx.received()) < recipients / 10) await delay(20);

const [pid] = await findVictims("delivery", { pid: program.pid, dataDir: stage.dataDir }, randomFrom(seed));
if (pid === undefined) throw new Error("there is no delivery process");
process.kill(pid, "SIGSTOP");
await delay(SETTLED_MS);
const before = await mx.count();
say(`${pid} is frozen for ${FROZEN_MS / 1000} s, after ${before.received} messages`);
await delay(FROZEN_MS - SETTLED_MS);
const asleep = await mx.count();
// What nobody has said a word about for all that time is what the frozen one may not have read an answer to.
const unread = new Set([...before.unread].filter((one) => asleep.unread.has(one)));
say(
  `${unread.size} answers were not read, ${asleep.underWay} messages begun; ${asleep.received} received so far`,
);
process.kill(pid, "SIGCONT");

const unrest = [...(await waitForSent(stage, id)), ...(await waitForRest(stage))];
const count = await mx.count();
say(`after waking         ${count.received - asleep.received} more received`);
const faults = await judgeCampaign(stage, id, { recipients, count, excused: unread });
await conclude(stage, [...unrest, ...faults], seed);
