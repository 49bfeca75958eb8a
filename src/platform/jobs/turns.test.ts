/** The order of jobs of several workspaces: the real runner, with handlers that record their input. */
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { need, type Resource } from "#platform/http/endpoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import type { JobContext, JobHandler } from "./attempt.ts";
import { startWithInput } from "./files.ts";
import { type JobRunner, type RunnerOptions, startRunner } from "./runner.ts";
import { startJob } from "./start-or-cancel-job.ts";

const subscribers: Resource = { name: "subscribers", label: "Subscribers", group: "Audience" };
const database = await testDatabase();
const runners: JobRunner[] = [];
const patience = { timeout: 60_000, interval: 20 };
let large: WorkspaceId;
let small: WorkspaceId;

beforeEach(async () => {
  large = await insertBareWorkspace(database);
  small = await insertBareWorkspace(database);
});
afterEach(async () => {
  await Promise.all(runners.splice(0).map((runner) => runner.stop()));
  await database.run(sql`delete from jobs`);
  await database.run(sql`delete from job_turns`);
});

async function run(handlers: RunnerOptions["handlers"], changes: Partial<RunnerOptions> = {}) {
  const timing = { pollMs: 100, heartbeatMs: 200, turnMs: 0 };
  const log = createLog("silent");
  runners.push(
    await startRunner({
      database,
      dataDir: "",
      log,
      handlers,
      recurring: [],
      concurrency: 1,
      timing,
      ...changes,
    }),
  );
}

async function start(workspaceId: WorkspaceId, name: string, type = "work"): Promise<string> {
  const job = { type, needs: need(subscribers, "write"), input: { name } };
  return (await database.transaction((tx) => startJob(tx, workspaceId, job))).job_id;
}

const startMany = async (workspaceId: WorkspaceId, count: number, prefix: string, type = "work") => {
  for (let at = 1; at <= count; at++) await start(workspaceId, `${prefix}${at}`, type);
};

/** A handler of one piece of work a run, and the names of the jobs in the order in which they were run. */
function recording(pieces: (name: string) => number = () => 1) {
  const order: string[] = [];
  const handler: JobHandler<{ name: string }> = async ({ job, report, hasToEnd, requireTurn }) => {
    for (let done = job.processed + 1; done <= pieces(job.input.name); done++) {
      order.push(job.input.name);
      report({ processed: done });
      await hasToEnd();
      if (done < pieces(job.input.name)) requireTurn();
    }
    return {};
  };
  return { order, handler };
}

const openJobs = () =>
  database.rows(sql`select from jobs where status in ('pending', 'processing')`).then((rows) => rows.length);
const untilAllEnded = () => vi.waitFor(async () => expect(await openJobs()).toBe(0), patience);

test("a workspace with one job is served after one of a workspace with fifty", async () => {
  await startMany(large, 50, "large");
  await start(small, "small");
  const { order, handler } = recording();
  await run({ work: handler });
  await untilAllEnded();
  expect(order.slice(0, 3)).toEqual(["large1", "small", "large2"]);
  expect(order).toHaveLength(51);
});

test("workspaces are served in turn, also when one starts jobs all the time", async () => {
  const third = await insertBareWorkspace(database);
  await startMany(large, 6, "a");
  await startMany(small, 2, "b");
  await startMany(third, 2, "c");
  const { order, handler } = recording();
  await run({ work: handler });
  await untilAllEnded();
  expect(order).toEqual(["a1", "b1", "c1", "a2", "b2", "c2", "a3", "a4", "a5", "a6"]);
});

test("a long job yields while others wait, also to one of its workspace, and continues where it was", async () => {
  await start(large, "long");
  await start(large, "short");
  await start(small, "small");
  const { order, handler } = recording((name) => (name === "long" ? 4 : 1));
  await run({ work: handler });
  await untilAllEnded();
  expect(order).toEqual(["long", "small", "short", "long", "long", "long"]);
});

test("a small upload goes before large ones of its workspace that were sent shortly before", async () => {
  const folder = await mkdtemp(join(tmpdir(), "posthaste-turns-"));
  const upload = async (name: string, bytes: number) => {
    const path = join(folder, name);
    await writeFile(path, Buffer.alloc(bytes));
    const job = { type: "work", needs: need(subscribers, "write"), input: { name } };
    await startWithInput(database, large, path, (tx, id) => startJob(tx, large, { ...job, id }));
  };
  for (const name of ["large1", "large2", "large3"]) await upload(name, 2 * 1024 * 1024);
  await upload("small", 10);
  await database.run(sql`
    update jobs set due_at = due_at - interval '1 hour' where input ->> 'name' = 'large3'`);
  const { order, handler } = recording();
  await run({ work: handler });
  await untilAllEnded();
  expect(order).toEqual(["large3", "small", "large1", "large2"]);
  await rm(folder, { recursive: true });
});

test("a job keeps its slot while no other job waits", async () => {
  const runs: string[] = [];
  const { order, handler } = recording(() => 5);
  await start(large, "long");
  await run({
    work: (context: JobContext<{ name: string }>) => {
      runs.push(context.job.input.name);
      return handler(context);
    },
  });
  await untilAllEnded();
  expect([order.length, runs.length]).toEqual([5, 1]);
});

test("at most one job of a type and workspace runs, over all slots and machines", async () => {
  let running = 0;
  let most = 0;
  const work = async ({ hasToEnd }: JobContext<never>) => {
    running += 1;
    most = Math.max(most, running);
    for (let pause = 0; pause < 5; pause++) await hasToEnd();
    running -= 1;
    return {};
  };
  await startMany(large, 12, "large");
  await run({ work }, { concurrency: 3 });
  await run({ work }, { concurrency: 3 });
  await untilAllEnded();
  expect(most).toBe(1);
});

test("jobs that cannot be interrupted leave a slot to the others, however many wait", async () => {
  const ended = new AbortController();
  const whole = async ({ signal }: JobContext<never>) => {
    const either = AbortSignal.any([ended.signal, signal]);
    if (!either.aborted) await once(either, "abort");
    return {};
  };
  const { order, handler } = recording();
  for (let at = 0; at < 3; at++) await start(await insertBareWorkspace(database), "whole", "whole");
  await run({ work: handler, whole }, { concurrency: 2, uninterrupted: ["whole"] });
  await vi.waitFor(async () => {
    const held = await database.rows(sql`select from job_turns where lease_id is not null`);
    expect(held).toHaveLength(1);
  }, patience);
  await start(small, "small");
  await vi.waitFor(() => expect(order).toEqual(["small"]), patience);
  ended.abort();
  await untilAllEnded();
});

test("a turn whose lease did not reach its runner is released", async () => {
  const { order, handler } = recording();
  await run({ work: handler });
  const runner = await vi.waitFor(async () => {
    const row = await database.row<{ id: string }>(sql`select id from job_runners where id like '%-%-%'`);
    if (row === undefined) throw new Error("no runner yet");
    return row.id;
  }, patience);
  await database.transaction(async (tx) => {
    const job = { type: "work", needs: need(subscribers, "write"), input: { name: "lost" } };
    await startJob(tx, small, job);
    await tx.run(sql`
      update job_turns set lease_id = gen_random_uuid(), runner_id = ${runner}, leased_at = now() - interval '1 minute'`);
  });
  await untilAllEnded();
  expect(order).toEqual(["lost"]);
});

test("the next job is found at once among thousands that wait", async () => {
  await database.run(sql`
    insert into workspaces (id, name) select gen_random_uuid(), 'one of many' from generate_series(1, 2000)`);
  await database.run(sql`
    insert into jobs (workspace_id, id, type, permission)
    select w.id, gen_random_uuid(), 'work', 'subscribers:read' from workspaces w, generate_series(1, 10)
    where w.name = 'one of many'`);
  await database.run(sql`
    insert into job_turns (workspace_id, type, due_at) select distinct workspace_id, type, now() from jobs`);
  await database.run(sql`analyze jobs`);
  await database.run(sql`analyze job_turns`);
  const plan = await database.rows<{ "QUERY PLAN": string }>(sql`
    explain select workspace_id, type from job_turns
    where lease_id is null and due_at <= now() and type = any ('{work}') order by due_at limit 1 for update skip locked`);
  expect(plan.map((line) => line["QUERY PLAN"]).join("\n")).toContain("job_turns_waiting");
  await database.run(sql`delete from jobs`);
  await database.run(sql`delete from job_turns`);
  await database.run(sql`delete from workspaces where name = 'one of many'`);
});
