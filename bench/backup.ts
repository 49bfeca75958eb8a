/**
 * Measures a backup and a restore with a million people and a million messages (BENCH_PEOPLE and BENCH_MESSAGES set other
 * numbers), and what the backup costs those who send meanwhile: `POST /emails/send` over 16 connections at full rate, without
 * and with it. Both runs alternate, so that other load on the machine affects both.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import sql from "sql-template-tag";
import { createDatabase, type Database } from "#platform/database/pool.ts";
import { HOUR_MS } from "#platform/time-units.ts";
import { startProgram } from "#test/support/program.ts";
import { launcherOf } from "#test/support/release.ts";
import { type HttpLoadResult, runHttpLoad } from "./http-load.ts";
import { messageLoad } from "./message-load.ts";
import { makePeopleData } from "./people-data.ts";
import { makeReportData } from "./report-data.ts";
import type { BenchSetup } from "./setup.ts";
import { type Figure, grouped, medianBy } from "./table.ts";

const PEOPLE = Number(process.env.BENCH_PEOPLE ?? 1_000_000);
const MESSAGES = Number(process.env.BENCH_MESSAGES ?? 1_000_000);
const CONNECTIONS = 16;
const RUNS = 3;
const SECONDS = 4;
const WARM_UP_SECONDS = 2;
const MOST_P99_RATIO = 2;

export async function benchBackup(setup: BenchSetup): Promise<Figure[]> {
  const deadlines = { statementMs: HOUR_MS, answerMs: HOUR_MS };
  const database = createDatabase(setup.databaseUrl, {
    size: 4,
    name: "backup",
    onError: () => {},
    deadlines,
  });
  try {
    await makePeopleData(database, setup.workspaceId, PEOPLE);
    await makeReportData(database, setup, MESSAGES);
    const latency = await measureLatency(setup);
    const file = join(setup.folder, "whole.backup");
    const backupSeconds = await runCommand(["backup", file], setup.environment);
    const restoreSeconds = await restoreElsewhere(setup, database, file);
    const [{ size: compressed }, row] = [
      await stat(file),
      await database.row<{ bytes: number }>(sql`select pg_database_size(current_database()) as bytes`),
    ];
    await rm(file);
    const data = `${grouped(PEOPLE)} people, ${grouped(MESSAGES)} messages`;
    const rate = (seconds: number) =>
      `${seconds.toFixed(0)} s, ${((row?.bytes ?? 0) / 1e6 / seconds).toFixed(0)} MB/s of the database`;
    return [
      ...latency,
      {
        what: `backup of ${data}`,
        measured: `${rate(backupSeconds)}, ${(compressed / 1e6).toFixed(0)} MB`,
        aim: "",
        isMet: null,
      },
      { what: "restore of it", measured: rate(restoreSeconds), aim: "", isMet: null },
    ];
  } finally {
    await database.close();
  }
}

interface Pair {
  readonly alone: HttpLoadResult;
  readonly during: HttpLoadResult;
}

async function measureLatency(setup: BenchSetup): Promise<Figure[]> {
  await using service = await startProgram(setup.environment, ["serve", "--roles", "api"]);
  const load = () =>
    runHttpLoad(
      messageLoad(setup, service.url, {
        connections: CONNECTIONS,
        seconds: SECONDS,
        warmUpSeconds: WARM_UP_SECONDS,
      }),
    );
  const pairs: Pair[] = [];
  for (let run = 0; run < RUNS; run++) {
    const alone = await load();
    const ending = new AbortController();
    const [during] = await Promise.all([
      load().finally(() => ending.abort()),
      backUpUntil(setup, ending.signal),
    ]);
    pairs.push({ alone, during });
  }
  const { alone, during } = medianBy(pairs, (pair) => pair.during.p99 / pair.alone.p99);
  const shown = ({ rate, p50, p99 }: HttpLoadResult) =>
    `${grouped(rate)}/s, p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms`;
  const ratio = during.p99 / alone.p99;
  return [
    {
      what: "accept during a backup, 1 KB body",
      measured: shown(during),
      yardstick: `without it ${shown(alone)}`,
      ratio,
      aim: `p99 ≤ ${MOST_P99_RATIO} times`,
      isMet: ratio <= MOST_P99_RATIO,
    },
  ];
}

/** One backup after the other, so that one runs during the whole load. @throws Error if one fails */
async function backUpUntil({ environment, folder }: BenchSetup, signal: AbortSignal): Promise<void> {
  for (let number = 0; !signal.aborted; number++) {
    const file = join(folder, `${number}.backup`);
    try {
      await runCommand(["backup", file], environment, signal);
    } catch (fault) {
      // The load has ended.
      if (!signal.aborted) throw fault;
    }
    await rm(file, { force: true });
  }
}

/** @returns seconds */
async function restoreElsewhere(setup: BenchSetup, database: Database, file: string): Promise<number> {
  const name = "restored";
  await database.run(sql`create database restored`);
  const url = new URL(setup.databaseUrl);
  url.pathname = `/${name}`;
  const dataDir = join(setup.folder, name);
  await mkdir(dataDir);
  const seconds = await runCommand(["restore", file], {
    ...setup.environment,
    DATABASE_URL: url.href,
    DATA_DIR: dataDir,
  });
  await database.run(sql`drop database restored`);
  return seconds;
}

/** @returns the seconds that the command took */
async function runCommand(
  words: readonly string[],
  settings: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<number> {
  const startedAt = performance.now();
  const { PATH = "" } = process.env;
  const child = spawn(process.execPath, [launcherOf(), ...words], {
    env: { PATH, ...settings },
    stdio: ["ignore", "ignore", "inherit"],
    ...(signal && { signal }),
  });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`${words[0]} failed`);
  return (performance.now() - startedAt) / 1000;
}
