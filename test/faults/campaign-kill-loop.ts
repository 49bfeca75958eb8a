/**
 * Kills Posthaste repeatedly while it sends one campaign, beginning with the call of `send`, and then checks the result:
 *
 *     npm run campaign-kill-loop -- --kills 100 --recipients 20000 [--pace 250] [--workers 2] [--seed N]
 *
 * `--pace` limits the messages per second of all lanes, so that the campaign lasts long enough for the kills. At the end
 * the campaign must become `sent` without help. The script exits with 1 if
 * - a recipient got no message, or a message with an unknown Message-ID arrived,
 * - a message arrived twice that was not in flight at a kill,
 * - counters differ from the log, or an invariant of the database is broken (invariants.ts).
 */
import { checkCampaign, draftCampaign, sendCampaign, waitForSent } from "./campaign.ts";
import { conclude, say, startFaultRun, waitForEmptyQueue } from "./fault-run.ts";
import { readNumbers } from "./options.ts";
import { randomFrom } from "./random.ts";
import { killRepeatedly } from "./repeated-kills.ts";

const { kills, recipients, pace, workers, seed } = readNumbers({
  kills: 100,
  recipients: 20_000,
  pace: 250,
  workers: 1,
});
say(`seed ${seed}, ${workers} delivery processes`);
const run = await startFaultRun({ workers, pace });
const id = await draftCampaign(run, recipients);
say(`the campaign to ${recipients} people is ready`);

const sending = sendCampaign(run, id);
const killed = await killRepeatedly(run, {
  kills,
  random: randomFrom(seed),
  goesOn: async (done) => done < kills && (await run.mx.received()) < recipients,
  progress: async () => `${await run.mx.received()} received`,
});
await sending;
const timeouts = [...(await waitForSent(run, id)), ...(await waitForEmptyQueue(run))];
const faults = await checkCampaign(run, id, { recipients, count: await run.mx.count() });
const early = killed.kills < kills ? [`the campaign ended after ${killed.kills} kills: lower --pace`] : [];
await conclude(run, [...killed.failedStarts, ...timeouts, ...faults, ...early], seed);
