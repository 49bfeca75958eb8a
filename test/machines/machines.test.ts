/** The beginning of `npm run machines`, for every run of the tests. Network namespaces need root and iproute2. */
import { expect, test } from "vitest";
import { mayMakeNetworks } from "#test/support/network.ts";
import { Trial } from "./trial.ts";

const RATE = 30;
const CUT_SECONDS = 5;
const TRIAL_MS = 480_000;

test.skipIf(!(await mayMakeNetworks()))(
  "of seven machines one that delivers is killed, and the database and one that accepts are cut off: nothing accepted is lost or doubled",
  { timeout: TRIAL_MS },
  async () => {
    await using trial = await Trial.begin(RATE);
    await trial.kill("delivery-1");
    await trial.cutOff("database", CUT_SECONDS);
    await trial.cutOff("api-1", CUT_SECONDS);
    expect(await trial.finish()).toEqual([]);
  },
);
