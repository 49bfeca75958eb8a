import { test } from "vitest";
import { runLedgerSeed } from "#test/faults/ledger-run.ts";
import { testDatabase } from "#test/support/database.ts";

const SEEDS = 300;
const STEPS = 4;
const AT_ONCE = 2;
/** On a machine that has other things to do, fewer of them, and never fewer than this. */
const PATIENCE_MS = 8_000;
const FEWEST = 20;
const TIMEOUT_MS = 120_000;

const db = await testDatabase();

// `npm run ledger-simulation` runs thousands of seeds, with longer stories.
const promise =
  "balance, ledger and allowance are those of a plain model, through crashes, two sessions at once and month ends";

test(promise, { timeout: TIMEOUT_MS }, async () => {
  const end = performance.now() + PATIENCE_MS;
  let next = 0;
  const runner = async () => {
    while (next < SEEDS && (next < FEWEST || performance.now() < end)) await runLedgerSeed(db, next++, STEPS);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, runner));
});
