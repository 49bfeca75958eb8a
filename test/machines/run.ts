/**
 * Kills each machine of an installation and cuts it off from the others, one after the other, while mail is accepted and
 * sent; then adds a machine, removes it, and upgrades every machine in turn:
 *
 *     npm run machines -- [--rate 60] [--cut 8]
 *
 * At the end the queue must become empty without help. The script exits with 1 if
 * - an accepted message did not arrive, or arrived twice without being in flight at a fault,
 * - an Idempotency-Key got two message ids, or a call an answer that a correct client must not get,
 * - a bounce that was accepted was not recorded, an event did not arrive, or people of the import are missing,
 * - an invariant of the database is broken (test/faults/invariants.ts).
 */
import { say } from "#test/faults/fault-run.ts";
import { readNumbers } from "#test/faults/options.ts";
import { mayMakeNetworks } from "#test/support/network.ts";
import { Trial } from "./trial.ts";

/** Longer than a lease (60 s): the other machine takes the messages over. */
const LONG_CUT_SECONDS = 75;

const { rate, cut } = readNumbers({ rate: 60, cut: 8 });
if (!(await mayMakeNetworks())) {
  say("needs root and the command ip (iproute2), to make network namespaces");
  process.exit(2);
}
await using trial = await Trial.begin(rate);
for (const name of trial.names) {
  await trial.kill(name);
  await trial.cutOff(name, cut);
}
await trial.killDatabase();
await trial.cutOff("database", cut);
await trial.cutOff("delivery-2", LONG_CUT_SECONDS);
await trial.addAndRemove();
await trial.upgradeAll();
const faults = await trial.finish();
say(faults.length === 0 ? "every promise was kept" : `BROKEN\n${faults.join("\n")}`);
process.exitCode = faults.length === 0 ? 0 : 1;
