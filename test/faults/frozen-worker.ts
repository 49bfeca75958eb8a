/**
 * Stops one of two delivery processes for longer than its leases while they send a campaign, continues it, and then
 * checks the result:
 *
 *     npm run frozen-worker -- --recipients 10000 [--pace 500] [--seed N]
 *
 * The other process takes over the leased messages. The script exits with 1 if
 * - a message arrived twice whose final dot had not been sent before the freeze,
 * - a recipient got no message,
 * - a late result of the continued process overwrote a newer one: two deliveries in a message's log, or wrong counters.
 */
import { setTimeout as delay } from "node:timers/promises";
import { checkCampaign, draftCampaign, sendCampaign, waitForSent } from "./campaign.ts";
import { conclude, say, startFaultRun, waitForEmptyQueue } from "./fault-run.ts";
import { findVictims } from "./kill-targets.ts";
import { readNumbers } from "./options.ts";
import { randomFrom } from "./random.ts";

/** Longer than a lease (60 s). */
const FROZEN_MS = 75_000;
/** In this time every live SMTP session sends its next command. */
const SETTLED_MS = 1_000;

const { recipients, pace, seed } = readNumbers({ recipients: 10_000, pace: 500 });
say(`seed ${seed}`);
const run = await startFaultRun({ workers: 2, pace });
const { mx, program } = run;
const id = await draftCampaign(run, recipients);
await sendCampaign(run, id);
while ((await mx.received()) < recipients / 10) await delay(20);

const [pid] = await findVictims("delivery", { pid: program.pid, dataDir: run.dataDir }, randomFrom(seed));
if (pid === undefined) throw new Error("found no delivery process");
process.kill(pid, "SIGSTOP");
await delay(SETTLED_MS);
const before = await mx.count();
say(`${pid} is frozen for ${FROZEN_MS / 1000} s, after ${before.received} messages`);
await delay(FROZEN_MS - SETTLED_MS);
const frozen = await mx.count();
// For messages still without a later command, the frozen process may not have read the reply: one duplicate is allowed.
const unread = new Map([...before.unread].filter((one) => frozen.unread.has(one)).map((one) => [one, 1]));
say(
  `${unread.size} answers were not read, ${frozen.underWay} messages begun; ${frozen.received} received so far`,
);
process.kill(pid, "SIGCONT");

const timeouts = [...(await waitForSent(run, id)), ...(await waitForEmptyQueue(run))];
const count = await mx.count();
say(`after continuing     ${count.received - frozen.received} more received`);
const faults = await checkCampaign(run, id, { recipients, count, excused: unread });
await conclude(run, [...timeouts, ...faults], seed);
