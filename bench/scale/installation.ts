/** An installation of a given size: a database of its own on the server of the benchmarks, filled. */
import sql, { raw } from "sql-template-tag";
import { PLANNER_SETTINGS } from "#delivery/queue/queue-store.ts";
import { ensurePartitions } from "#messages/partitions/create-partitions.ts";
import { createDatabase, type Database } from "#platform/database/pool.ts";
import { prepareSchema } from "#platform/jobs/migrate-schema.ts";
import { createLog } from "#platform/log/log.ts";
import { HOUR_MS } from "#platform/time-units.ts";
import type { BenchSetup } from "../setup.ts";
import { LogNumbers, seedLog } from "./seed-log.ts";
import { type PeopleRange, seedPeople } from "./seed-people.ts";
import { seedWaiting } from "./seed-waiting.ts";
import { seedWorkspaces } from "./seed-workspaces.ts";
import type { Size } from "./size.ts";

/** The people of the workspace in which people are searched. It is the last one, and has neither mail nor webhooks. */
const SEARCHED_PEOPLE = 25_000;

export interface Installation extends AsyncDisposable {
  readonly size: Size;
  readonly log: LogNumbers;
  readonly database: Database;
  /** A connection as delivery processes have. */
  readonly delivery: Database;
}

/** @param name of its database */
export async function openInstallation(
  setup: BenchSetup,
  name: string,
  size: Size,
  { isSearched }: { readonly isSearched: boolean },
): Promise<Installation> {
  await setup.database.run(raw(`create database ${name}`));
  const url = new URL(setup.databaseUrl);
  url.pathname = `/${name}`;
  const deadlines = { statementMs: HOUR_MS, answerMs: HOUR_MS };
  const connection = { name: "benchmark", onError: () => {}, deadlines };
  const database = createDatabase(url.href, { ...connection, size: 3 });
  const delivery = createDatabase(url.href, { ...connection, size: 1, settings: PLANNER_SETTINGS });
  const now = new Date();
  const log = new LogNumbers(size, now);
  await prepareSchema(database, createLog("silent"));
  await ensurePartitions(database, now);
  await fill(database, size, log, { now, isSearched });
  return {
    size,
    log,
    database,
    delivery,
    async [Symbol.asyncDispose]() {
      await Promise.all([database.close(), delivery.close()]);
      await setup.database.run(raw(`drop database ${name} with (force)`));
    },
  };
}

async function fill(
  db: Database,
  size: Size,
  log: LogNumbers,
  { now, isSearched }: { readonly now: Date; readonly isSearched: boolean },
): Promise<void> {
  const step = async (what: string, work: () => Promise<unknown>) => {
    const from = performance.now();
    await work();
    process.stderr.write(`  ${what}: ${((performance.now() - from) / 1_000).toFixed(0)} s\n`);
  };
  const { workspaces, people, log: messages } = size;
  const ofWorkspace = Math.floor(people / Math.max(1, workspaces));
  const all = ofWorkspace * workspaces;
  const others: PeopleRange = { first: 0, count: all, workspace: 0, ofWorkspace, isMailed: true };
  const searched: PeopleRange = {
    first: all,
    count: SEARCHED_PEOPLE,
    workspace: workspaces,
    ofWorkspace: SEARCHED_PEOPLE,
    isMailed: false,
  };
  await step("workspaces", () => seedWorkspaces(db, workspaces + Number(isSearched)));
  await step("people", () => seedPeople(db, isSearched ? [others, searched] : [others], log));
  if (messages > 0) await step("message log", () => seedLog(db, log, now));
  await step("what waits", () => seedWaiting(db, size));
  await step("vacuum", () => db.run(sql`vacuum analyze`));
}
