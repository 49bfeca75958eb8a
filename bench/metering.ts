/**
 * Measures the cost of metering: the acceptor alone with 64 concurrent senders, for metered mail and for mail of the
 * service itself, which uses the same statements without the meter. The workspace is far from its limit, as nearly all
 * are, and its meter is read every two seconds. Runs of both alternate. A second figure shows the rate near a limit,
 * where each batch locks the account.
 */
import { setTimeout as delay } from "node:timers/promises";
import { systemClock } from "#platform/clock.ts";
import { createDatabase, type Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { createAcceptor } from "#sending/acceptance/acceptor.ts";
import { draft } from "#test/support/drafts.ts";
import { settleAccount } from "#workspace/billing/meter.ts";
import { plans } from "#workspace/billing/plans.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";
import { createWorkspace } from "#workspace/create-workspace.ts";
import { htmlOfLength } from "./mail-body.ts";
import type { BenchSetup } from "./setup.ts";
import { type Figure, grouped, medianBy } from "./table.ts";

const SENDERS = 64;
const RUNS = 5;
const SECONDS = 3;
const WARM_UP_SECONDS = 1;
const POOL = 6;
const READ_MS = 2_000;
const LEAST_RATIO = 0.9;
/** A limit that is not reached. */
const CAP = 1_000_000_000;

interface Rates {
  readonly metered: number;
  readonly nearLimit: number;
  readonly free: number;
}

export async function benchMetering(setup: BenchSetup): Promise<Figure[]> {
  const db = createDatabase(setup.databaseUrl, { size: POOL, name: "benchmark", onError: () => {} });
  const runs: Rates[] = [];
  for (let run = 0; run < RUNS; run++) {
    runs.push({
      metered: await acceptRate(db, "api", null),
      free: await acceptRate(db, "platform", null),
      nearLimit: await acceptRate(db, "api", CAP),
    });
  }
  await db.close();
  const ratioOf = ({ metered, free }: Rates) => metered / free;
  const middle = medianBy(runs, ratioOf);
  const capped = medianBy(runs, ({ nearLimit, free }) => nearLimit / free);
  return [
    {
      what: "accept, metered",
      measured: `${grouped(middle.metered)}/s`,
      yardstick: `not metered ${grouped(middle.free)}/s`,
      ratio: ratioOf(middle),
      aim: `ratio ≥ ${LEAST_RATIO}`,
      isMet: ratioOf(middle) >= LEAST_RATIO,
    },
    {
      what: "accept, metered under the account's lock",
      measured: `${grouped(capped.nearLimit)}/s`,
      yardstick: `not metered ${grouped(capped.free)}/s`,
      ratio: capped.nearLimit / capped.free,
      aim: "",
      isMet: null,
    },
  ];
}

/** Messages per second of a new workspace. */
async function acceptRate(db: Database, source: "api" | "platform", cap: number | null): Promise<number> {
  const settings = { name: "Metering", timezone: "UTC", plan: "scale" } as const;
  const { workspace } = await createWorkspace(db, settings, systemClock);
  if (cap !== null)
    await changeWorkspace(
      db,
      workspace.id,
      { plan: "enterprise", hourly_cap: cap },
      { clock: systemClock, plans },
    );
  await readMeter(db, workspace.id);
  const acceptor = createAcceptor({ db, clock: systemClock, plans, onCommitted: () => {} });
  const html = htmlOfLength(1_000);
  const done = new AbortController();
  let accepted = 0;
  const sender = async () => {
    while (!done.signal.aborted) {
      await acceptor.accept(draft(workspace.id, "ada@example.test", { source, html }));
      accepted += 1;
    }
  };
  const reader = async () => {
    while (!done.signal.aborted) {
      await delay(READ_MS, undefined, { signal: done.signal }).catch(() => {});
      await readMeter(db, workspace.id);
    }
  };
  const working = Promise.all([reader(), ...Array.from({ length: SENDERS }, sender)]);
  await delay(WARM_UP_SECONDS * 1_000);
  const [before, from] = [accepted, performance.now()];
  await delay(SECONDS * 1_000);
  const rate = (accepted - before) / ((performance.now() - from) / 1_000);
  done.abort();
  await working;
  return rate;
}

function readMeter(db: Database, workspaceId: WorkspaceId): Promise<unknown> {
  return db.transaction((tx) => settleAccount(tx, plans, workspaceId, systemClock.now()));
}
