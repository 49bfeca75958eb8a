/**
 * Kills Posthaste again and again while it sends one campaign, from before the answer to `send` on, and then counts:
 *
 *     npm run campaign-kill-loop -- --kills 100 --recipients 20000 [--pace 250] [--workers 2] [--seed N]
 *
 * `--pace` is how many messages a second all lanes together carry, so that something is left to kill. At the end the
 * campaign must be `sent` by itself. It exits with 1 when somebody was not reached, when a message came twice that was
 * not in flight or came under another Message-ID, when counters differ from the log, or when the database is not as it
 * must be.
 */
import { draftCampaign, judgeCampaign, sendCampaign, waitForSent } from "./campaign.ts";
import { killAgainAndAgain } from "./kill-again.ts";
import { readNumbers } from "./options.ts";
import { randomFrom } from "./random.ts";
import { conclude, openStage, say, waitForRest } from "./stage.ts";

const { kills, recipients, pace, workers, seed } = readNumbers({
  kills: 100,
  recipients: 20_000,
  pace: 250,
  workers: 1,
});
say(`seed ${seed}, ${workers} delivery processes`);
const stage = await openStage({ workers, pace });
const id = await draftCampaign(stage, recipients);
say(`the campaign to ${recipients} people is ready`);

const sending = sendCampaign(stage, id);
const killed = await killAgainAndAgain(stage, {
  kills,
  random: randomFrom(seed),
  goesOn: async (done) => done < kills && (await stage.mx.received()) < recipients,
  progress: async () => `${await stage.mx.received()} received`,
});
await sending;
const unrest = [...(await waitForSent(stage, id)), ...(await waitForRest(stage))];
const faults = await judgeCampaign(stage, id, { recipients, count: await stage.mx.count() });
const early = killed.kills < kills ? [`the campaign was over after ${killed.kills} kills: lower --pace`] : [];
await conclude(stage, [...killed.failedStarts, ...unrest, ...faults, ...early], seed);
