/** D7: the recurring tasks, after the same amount of work in both installations. */
import sql from "sql-template-tag";
import { systemClock } from "#platform/clock.ts";
import { readConfig } from "#platform/config/config.ts";
import { newId } from "#platform/ids.ts";
import { PutBack } from "#platform/jobs/attempt.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { createLog } from "#platform/log/log.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import { HOUR_MS } from "#platform/time-units.ts";
import { createRecurringTasks } from "#processes/recurring-tasks.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { plans } from "#workspace/billing/plans.ts";
import { type BenchSetup, SECRET_KEY } from "../setup.ts";
import { type Figure, median } from "../table.ts";
import { figureOf, spreadNumbers, timeOf } from "./compare.ts";
import type { Installation } from "./installation.ts";
import { seedId, workspaceAt } from "./seed-ids.ts";
import { draftsFor } from "./seed-waiting.ts";

/** The work before the tasks run: accepted messages, and people who get another message. */
const ACCEPTED = 5_000;
const ACCEPTED_AT_ONCE = 500;
const MAILED = 1_000;
const ROUNDS = 3;
/** Tasks with their own figure. */
const READ_METERS = "read-meters";
const REFRESH_SCORES = "refresh-engagement-scores";
/** Other tasks are named if they take longer than this. */
const NAMED_FROM_MS = 20;
const silent = createLog("silent");

/** How long each task took, in milliseconds: the median of the rounds. */
type Costs = ReadonlyMap<string, number>;

export async function compareRecurringTasks(
  setup: BenchSetup,
  large: Installation,
  small: Installation,
): Promise<Figure[]> {
  const few = small.size.workspaces;
  const sides = [large, small].map((side) => ({ side, tasks: tasksOf(setup, side), rounds: newRounds() }));
  // The first run does what has come up while the installations were filled.
  for (const { tasks } of sides) await runAll(tasks);
  for (let round = 0; round < ROUNDS; round++) {
    for (const { side, tasks, rounds } of sides) {
      await accept(side, ACCEPTED);
      rounds.ofAllWorkspaces.push(await runAll(tasks));
      await accept(side, few);
      await mailPeople(side, few);
      rounds.ofFewWorkspaces.push(await runAll(tasks));
    }
  }
  const costsOf = (what: keyof ReturnType<typeof newRounds>): [Costs, Costs] => {
    const [ofLarge = new Map(), ofSmall = new Map()] = sides.map(({ rounds }) => medians(rounds[what]));
    return [ofLarge, ofSmall];
  };
  return [
    ofTask(
      `D7 meters after ${ACCEPTED} messages of ${few} workspaces`,
      READ_METERS,
      costsOf("ofFewWorkspaces"),
    ),
    // The usage of more workspaces is in more rows, however large the installation is.
    ofTask(
      `D7 meters after ${ACCEPTED} messages of all workspaces`,
      READ_METERS,
      costsOf("ofAllWorkspaces"),
      null,
    ),
    ofTask(`D7 scores after mail to ${MAILED} people`, REFRESH_SCORES, costsOf("ofFewWorkspaces")),
    ...ofOthers(few, costsOf("ofFewWorkspaces")),
  ];
}

function newRounds() {
  const ofAllWorkspaces: Costs[] = [];
  const ofFewWorkspaces: Costs[] = [];
  return { ofAllWorkspaces, ofFewWorkspaces };
}

function medians(rounds: readonly Costs[]): Costs {
  const tasks = [...(rounds[0]?.keys() ?? [])];
  return new Map(tasks.map((task) => [task, median(rounds.map((costs) => costs.get(task) ?? 0))]));
}

function ofTask(
  what: string,
  task: string,
  [ofLarge, ofSmall]: readonly [Costs, Costs],
  mostRatio?: null,
): Figure {
  const aim = mostRatio === null ? { mostRatio } : {};
  return figureOf({ what, ...aim }, ofLarge.get(task) ?? 0, ofSmall.get(task) ?? 0);
}

/** The other tasks together, and each that grows and takes long. */
function ofOthers(workspaces: number, costs: readonly [Costs, Costs]): Figure[] {
  const [large, small] = costs;
  const others = [...large.keys()].filter((task) => task !== REFRESH_SCORES && task !== READ_METERS);
  const sum = (of: Costs) => others.reduce((all, task) => all + (of.get(task) ?? 0), 0);
  const single = others
    .filter((task) => (large.get(task) ?? 0) > NAMED_FROM_MS)
    .map((task) => ofTask(`D7 of these: ${task}`, task, costs))
    .filter(({ isMet }) => !isMet);
  const what = `D7 all other tasks after ${ACCEPTED} messages of ${workspaces} workspaces`;
  return [figureOf({ what }, sum(large), sum(small)), ...single];
}

function tasksOf(setup: BenchSetup, { database }: Installation): Recurring[] {
  return createRecurringTasks({
    config: readConfig({ ...setup.environment, DATABASE_URL: database.url, MAIL_MODE: "capture" }),
    log: silent,
    clock: systemClock,
    database,
    requests: database,
    secrets: createSecrets(SECRET_KEY),
    plans,
    prober: null,
    onLimit: () => {},
  });
}

/** Runs each task until it has nothing left to do. */
async function runAll(tasks: readonly Recurring[]): Promise<Costs> {
  const costs = new Map<string, number>();
  for (const task of tasks) {
    costs.set(task.name, await timeOf(() => runToEnd(task)));
  }
  return costs;
}

async function runToEnd(task: Recurring): Promise<void> {
  const { signal } = new AbortController();
  for (;;) {
    try {
      return await task.run({ signal, log: silent });
    } catch (err) {
      if (!(err instanceof PutBack)) throw err;
    }
  }
}

/** Accepts messages of up to `most` workspaces. */
async function accept({ database, size }: Installation, most: number): Promise<void> {
  const workspaces = spreadNumbers(ACCEPTED, size.workspaces, most);
  for (let from = 0; from < ACCEPTED; from += ACCEPTED_AT_ONCE)
    await insertDrafts(database, draftsFor(workspaces.slice(from, from + ACCEPTED_AT_ONCE)));
}

/** Adds mail of up to `most` workspaces to that which their people got before, as a campaign does. */
async function mailPeople({ database, size, log }: Installation, most: number): Promise<void> {
  const campaignId = newId();
  // Newer mail waits for the next run of the task.
  const ms = Date.now() - HOUR_MS - 1;
  const workspaces = spreadNumbers(MAILED, size.workspaces, most);
  await database.run(sql`
    insert into campaign_recipients (workspace_id, campaign_id, subscriber_id, message_id)
    select workspace_id, ${campaignId}, subscriber_id, message_id
    from unnest(${workspaces.map(workspaceAt)}::uuid[], ${workspaces.map((one) => log.randomRecipientOf(one))}::uuid[],
      ${workspaces.map((_, at) => seedId(ms, at))}::uuid[]) as m (workspace_id, subscriber_id, message_id)
    on conflict do nothing`);
}
