import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError } from "#platform/errors.ts";
import { need, type Resource } from "#platform/http/endpoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { readJobFile } from "#test/support/job-files.ts";
import { type JobContext, type JobHandler, type JobOutcome, PutBack } from "./attempt.ts";
import { findJob, type JobRow } from "./job-record-store.ts";
import { JobLineFile } from "./line-file.ts";
import { type JobRunner, type RunnerOptions, startRunner } from "./runner.ts";
import { removeSilentRunners } from "./runners-store.ts";
import { hasten } from "./schedule.ts";
import { cancelJob, startJob } from "./start-or-cancel-job.ts";

const subscribers: Resource = { name: "subscribers", label: "Subscribers", group: "Audience" };
const database = await testDatabase();
const log = createLog("silent");
const timing = { pollMs: 100, heartbeatMs: 200, silentMs: 1_500 };
const patience = { timeout: 60_000, interval: 50 };
let dataDir: string;
let workspaceId: WorkspaceId;
const runners: JobRunner[] = [];

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "posthaste-runner-"));
});
beforeEach(async () => {
  workspaceId = await insertBareWorkspace(database);
});
afterEach(async () => {
  await Promise.all(runners.splice(0).map((runner) => runner.stop()));
  await database.run(sql`delete from jobs`);
  await database.run(sql`delete from job_turns`);
  await database.run(
    sql`select graphile_worker.complete_jobs(array_agg(id)) from graphile_worker.jobs having count(*) > 0`,
  );
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

async function runnerWith(handlers: RunnerOptions["handlers"], changes: Partial<RunnerOptions> = {}) {
  const runner = await startRunner({ database, dataDir, log, handlers, recurring: [], timing, ...changes });
  runners.push(runner);
  return runner;
}

async function start(type: string, input: unknown = {}): Promise<string> {
  const job = { type, needs: need(subscribers, "write"), input };
  return (await database.transaction((tx) => startJob(tx, workspaceId, job))).job_id;
}

async function jobOf(id: string): Promise<JobRow> {
  const job = await findJob(database, workspaceId, id);
  if (job === undefined) throw new Error("the job is gone");
  return job;
}

/** Waits until the job has come to this state. */
async function until(id: string, status: JobRow["status"]): Promise<JobRow> {
  await vi.waitFor(async () => expect((await jobOf(id)).status).toBe(status), patience);
  return jobOf(id);
}

/** Whether a runner will look at the jobs of its kind again. */
async function isInLine(id: string): Promise<boolean> {
  const turn = await database.row(sql`
    select from job_turns t join jobs j on j.workspace_id = t.workspace_id and j.type = t.type where j.id = ${id}`);
  return turn !== undefined;
}

/** The retry pause is seconds long; a test need not wait for it. */
async function dueNow(id: string): Promise<void> {
  await vi.waitFor(async () => {
    const changed = await database.run(sql`
      update jobs set due_at = now() where id = ${id} and status = 'pending' and attempts > 0 and due_at > now()`);
    expect(changed).toBe(1);
    await database.run(sql`update job_turns set due_at = now()`);
  }, patience);
}

/** A handler that ends when its signal does, and the moment it was entered. */
function waiting() {
  const entered = Promise.withResolvers<JobContext<never>>();
  const handler = async (context: JobContext<never>): Promise<JobOutcome> => {
    entered.resolve(context);
    if (!context.signal.aborted) await once(context.signal, "abort");
    context.signal.throwIfAborted();
    return {};
  };
  return { entered: entered.promise, handler };
}

describe("a job", () => {
  it("runs its handler with the input, and keeps result, numbers and files", async () => {
    const work: JobHandler<{ rows: string[] }> = async ({ job, report }) => {
      report({ total: job.input.rows.length });
      report({ processed: 2, succeeded: 1, failed: 1, counts: { created: 1 } });
      report({ counts: { invalid: 1 } });
      const [kept, other] = ["out.csv", "notes"].map((called) => new JobLineFile(database, job, called));
      for (const file of [kept, other]) {
        file?.add(job.input.rows.join("\n"));
        await file?.close();
      }
      return { result: { note: "fine" }, resultFile: kept?.name ?? "" };
    };
    await runnerWith({ work });
    const id = await start("work", { rows: ["a", "b"] });
    expect(await until(id, "completed")).toMatchObject({
      total: 2,
      processed: 2,
      succeeded: 1,
      failed: 1,
      skipped: 0,
      counts: { created: 1, invalid: 1 },
      result: { note: "fine" },
      result_file: expect.stringMatching(/\/out\.csv$/),
      errors_file: null,
      error: null,
    });
    const files = await database.rows<{ name: string }>(sql`
      select name from job_file_parts where job_id = ${id}`);
    expect(files.map(({ name }) => name)).toEqual([(await jobOf(id)).result_file]);
    const file = { workspaceId, jobId: id, name: files[0]?.name ?? "" };
    expect(await readJobFile(database, file)).toBe("a\nb");
    const { started_at, completed_at, expires_at } = await jobOf(id);
    expect(started_at).not.toBeNull();
    const keptMs = (expires_at?.getTime() ?? 0) - (completed_at?.getTime() ?? 0);
    expect(keptMs).toBe(7 * 86_400_000);
  });

  it("shows its progress while it runs", async () => {
    const { entered, handler } = waiting();
    await runnerWith({ work: handler });
    const id = await start("work");
    const { report } = await entered;
    for (let row = 1; row <= 1_000; row += 1) report({ total: 4_000, processed: row });
    await vi.waitFor(async () => expect((await jobOf(id)).processed).toBe(1_000), patience);
    expect((await jobOf(id)).status).toBe("processing");
  });

  it("sees that it was cancelled, and ends as cancelled with its numbers", async () => {
    const { entered, handler } = waiting();
    await runnerWith({ work: handler });
    const id = await start("work");
    const context = await entered;
    context.report({ processed: 7 });
    await cancelJob(database, workspaceId, id);
    expect(await until(id, "cancelled")).toMatchObject({ processed: 7, error: null });
    expect(context.isCancelled()).toBe(true);
  });

  it("can ask whether it was cancelled, and is completed if nothing was left to do", async () => {
    const asked: boolean[] = [];
    await runnerWith({
      work: async ({ job, hasToEnd }) => {
        asked.push(await hasToEnd());
        await cancelJob(database, workspaceId, job.id);
        asked.push(await hasToEnd());
        return { result: "all" };
      },
    });
    expect(await until(await start("work"), "completed")).toMatchObject({ result: "all" });
    expect(asked).toEqual([false, true]);
  });

  it("that was cancelled while it waited never runs", async () => {
    const run = vi.fn(async () => ({}));
    const id = await start("work");
    await cancelJob(database, workspaceId, id);
    await runnerWith({ work: run });
    await vi.waitFor(async () => {
      expect(await isInLine(id)).toBe(false);
    }, patience);
    expect(run).not.toHaveBeenCalled();
    expect((await jobOf(id)).status).toBe("cancelled");
  });

  it("fails at once with the message of an ApiError", async () => {
    const work = vi.fn(async () => {
      throw new ApiError("BAD_REQUEST", "The file is not CSV");
    });
    await runnerWith({ work });
    const id = await start("work");
    expect(await until(id, "failed")).toMatchObject({ error: "The file is not CSV" });
    expect(work).toHaveBeenCalledTimes(1);
  });

  it("that always throws is given up after five attempts without details, and does not block others", async () => {
    let attempts = 0;
    const poison = async () => {
      attempts += 1;
      throw new Error("secret details of ours");
    };
    await runnerWith({ poison, work: async () => ({}) }, { concurrency: 1 });
    const id = await start("poison");
    for (let retry = 1; retry < 5; retry += 1) {
      await until(await start("work"), "completed");
      await dueNow(id);
    }
    const job = await until(id, "failed");
    expect(attempts).toBe(5);
    expect(job.error).toBe("The job failed 5 times with an internal error and was given up");
    await vi.waitFor(async () => {
      expect(await isInLine(id)).toBe(false);
    }, patience);
  });

  it("without a handler here waits for a runner that has one", async () => {
    await runnerWith({ work: async () => ({}) });
    const id = await start("other");
    await until(await start("work"), "completed");
    expect((await jobOf(id)).status).toBe("pending");
    await runnerWith({ other: async () => ({}) });
    await until(id, "completed");
  });
});

describe("a job that is put back", () => {
  it("for an hour ends at once if it is cancelled, and may leave a partial result", async () => {
    const work: JobHandler<never> = async ({ signal }) => {
      if (!signal.aborted) throw new PutBack(3_600);
      return { result: "what there is", isPartial: true };
    };
    await runnerWith({ work });
    const id = await start("work");
    await vi.waitFor(async () => {
      const later = sql`
        select from job_turns t join jobs j on j.workspace_id = t.workspace_id and j.type = t.type
        where j.id = ${id} and t.due_at > now() + interval '50 minutes'`;
      expect(await database.row(later)).toBeDefined();
    }, patience);
    await cancelJob(database, workspaceId, id);
    expect(await until(id, "cancelled")).toMatchObject({ result: "what there is" });
  });

  it("while it is cancelled is due at once", async () => {
    const work: JobHandler<never> = async ({ job, signal }) => {
      if (signal.aborted) return { result: "what there is", isPartial: true };
      await cancelJob(database, workspaceId, job.id);
      throw new PutBack(3_600);
    };
    await runnerWith({ work });
    expect(await until(await start("work"), "cancelled")).toMatchObject({ result: "what there is" });
  });
});

describe("when a runner stops in order", () => {
  it("a running job is queued again with its progress and run by another", async () => {
    const { entered, handler } = waiting();
    const first = await runnerWith({ work: handler });
    const id = await start("work");
    (await entered).report({ processed: 42 });
    await first.stop();
    runners.length = 0;
    expect(await jobOf(id)).toMatchObject({ status: "pending", processed: 42 });
    let found = 0;
    await runnerWith({
      work: async ({ job }) => {
        found = job.processed;
        return {};
      },
    });
    await until(id, "completed");
    expect(found).toBe(42);
  });

  it("a job that is cancelled before its next run may leave a partial result", async () => {
    const { entered, handler } = waiting();
    const first = await runnerWith({ work: handler });
    const id = await start("work");
    await entered;
    await first.stop();
    runners.length = 0;
    expect(await cancelJob(database, workspaceId, id)).toMatchObject({ status: "pending" });
    await runnerWith({
      work: async ({ isCancelled }) =>
        isCancelled() ? { result: "what there is", isPartial: true } : { result: "all" },
    });
    expect(await until(id, "cancelled")).toMatchObject({ result: "what there is" });
  });

  it("a handler that ignores the signal is waited for", async () => {
    const finish = Promise.withResolvers<JobOutcome>();
    const entered = Promise.withResolvers<void>();
    const runner = await runnerWith({
      work: () => {
        entered.resolve();
        return finish.promise;
      },
    });
    const id = await start("work");
    await entered.promise;
    const stopped = runner.stop();
    runners.length = 0;
    finish.resolve({ result: "whole" });
    await stopped;
    expect(await jobOf(id)).toMatchObject({ status: "completed", result: "whole" });
  });
});

/** Starts a separate process with work that never ends; gives a function that kills it. */
async function hangWith(kind: "job" | "task"): Promise<() => Promise<void>> {
  const program = new URL("../../../test/support/hanging-runner.ts", import.meta.url);
  const child = fork(program, [database.url, dataDir, kind]);
  await once(child, "message");
  return async () => {
    child.kill("SIGKILL");
    await once(child, "exit");
  };
}

describe("when a runner dies", () => {
  it("its job is run again by another one, which the killed one cannot disturb", async () => {
    const id = await start("hang");
    const kill = await hangWith("job");
    expect((await jobOf(id)).status).toBe("processing");
    await kill();
    await runnerWith({ hang: async () => ({ result: "done by another" }) });
    expect(await until(id, "completed")).toMatchObject({ result: "done by another" });
  });

  it.each([0, 1])("its task runs again elsewhere, after %i calls of hasten", async (times) => {
    const kill = await hangWith("task");
    if (times === 1) await hasten(database, "hang");
    await kill();
    const run = vi.fn(async () => {});
    await runnerWith({}, { recurring: [{ name: "hang", seconds: 3_600, run }] });
    await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(1), patience);
  });

  it("a job that kills its process is given up", async () => {
    const run = vi.fn(async () => ({}));
    const id = await start("poison");
    await database.run(sql`update jobs set attempts = 5 where id = ${id}`);
    await runnerWith({ poison: run });
    expect(await until(id, "failed")).toMatchObject({ error: expect.stringContaining("given up") });
    expect(run).not.toHaveBeenCalled();
  });

  it("its leases are released, and those of a living one are not", async () => {
    const { entered, handler } = waiting();
    await runnerWith({ work: handler });
    await start("work");
    await entered;
    await vi.waitFor(async () => {
      const seen = await database.row(sql`
        select from job_runners r join job_turns t on t.runner_id = r.id where t.workspace_id = ${workspaceId}`);
      expect(seen).toBeDefined();
    }, patience);
    const isHeldForAnHour = async () => {
      const held = sql`
        select from job_turns where workspace_id = ${workspaceId} and leased_at <= now() - interval '1 hour'`;
      return (await database.row(held)) !== undefined;
    };
    await database.run(sql`update job_turns set leased_at = now() - interval '1 hour'`);
    await removeSilentRunners(database, timing.silentMs);
    expect(await isHeldForAnHour()).toBe(true);
    await removeSilentRunners(database, 0);
    expect(await isHeldForAnHour()).toBe(false);
  });

  it("an overtaken run is aborted and writes nothing more", async () => {
    const { entered, handler } = waiting();
    await runnerWith({ work: handler });
    const id = await start("work");
    const context = await entered;
    await database.run(
      sql`insert into job_runners (id, seen_at) values ('another', now() + interval '1 hour')`,
    );
    const lease = await database.row(sql`
      update job_turns set lease_id = gen_random_uuid(), runner_id = 'another' returning lease_id, runner_id`);
    await database.run(sql`update jobs set run_number = run_number + 1, processed = 9 where id = ${id}`);
    await once(context.signal, "abort");
    context.report({ processed: 1 });
    await Promise.all(runners.splice(0).map((runner) => runner.stop()));
    expect(await jobOf(id)).toMatchObject({ status: "processing", processed: 9 });
    expect(await database.row(sql`select lease_id, runner_id from job_turns`)).toEqual(lease);
    await database.run(sql`delete from job_runners`);
  });
});

describe("recurring work", () => {
  it("runs once in each interval over all runners", async () => {
    const turns: number[] = [];
    const runsOf = (machine: number) => [
      {
        name: "turns",
        seconds: 1,
        run: async () => {
          turns.push(machine);
        },
      },
    ];
    const begin = performance.now();
    await Promise.all([1, 2, 3].map((machine) => runnerWith({}, { recurring: runsOf(machine) })));
    await vi.waitFor(() => expect(turns.length).toBeGreaterThanOrEqual(3), patience);
    const seconds = (performance.now() - begin) / 1_000;
    expect(turns.length).toBeLessThanOrEqual(Math.ceil(seconds) + 1);
    const waiting = await database.rows(sql`select from graphile_worker.jobs where key = 'every:turns'`);
    expect(waiting.length).toBe(1);
  });

  it("does not wait for jobs, however many there are", async () => {
    const { entered, handler } = waiting();
    for (let count = 0; count < 8; count++) await start("work");
    const run = vi.fn(async () => {});
    const task = { name: "steady", seconds: 1, run: () => entered.then(run) };
    await runnerWith({ work: handler }, { recurring: [task] });
    await vi.waitFor(() => expect(run.mock.calls.length).toBeGreaterThanOrEqual(3), patience);
  });

  it("that is hastened during its run is run again right after it", async () => {
    const entered = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const run = vi.fn(() => {
      entered.resolve();
      return finish.promise;
    });
    const other = vi.fn(async () => {});
    const recurring = [
      { name: "slow", seconds: 300, run },
      { name: "other", seconds: 0, run: other },
    ];
    await Promise.all([1, 2].map(() => runnerWith({}, { recurring })));
    await entered.promise;
    await hasten(database, "slow");
    // Free places look for work again and again.
    const before = other.mock.calls.length;
    await vi.waitFor(() => expect(other.mock.calls.length).toBeGreaterThan(before + 5), patience);
    expect(run).toHaveBeenCalledTimes(1);
    finish.resolve();
    await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(2), patience);
    await vi.waitFor(async () => {
      const waiting = await database.rows<{ isLater: boolean }>(sql`
        select run_at > now() + interval '4 minutes' as "isLater" from graphile_worker.jobs where key = 'every:slow'`);
      expect(waiting).toEqual([{ isLater: true }]);
    }, patience);
  });

  it("that runs is not queued again by the start of another machine", async () => {
    const entered = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const run = vi.fn(() => {
      entered.resolve();
      return finish.promise;
    });
    const recurring = [{ name: "rare", seconds: 86_400, run }];
    await runnerWith({}, { recurring });
    await entered.promise;
    await runnerWith({}, { recurring });
    finish.resolve();
    await vi.waitFor(async () => {
      const waiting = await database.rows<{ isLater: boolean }>(sql`
        select run_at > now() + interval '1 hour' as "isLater" from graphile_worker.jobs
        where task_identifier = 'every:rare'`);
      expect(waiting).toEqual([{ isLater: true }]);
    }, patience);
    expect(run).toHaveBeenCalledTimes(1);
  });

  it("that throws PutBack is called again at once", async () => {
    const run = vi.fn(async () => {
      if (run.mock.calls.length === 1) throw new PutBack();
    });
    await runnerWith({}, { recurring: [{ name: "long", seconds: 86_400, run }] });
    await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(2), patience);
  });

  it("continues after a failure", async () => {
    const run = vi.fn(async () => {
      if (run.mock.calls.length === 1) throw new Error("this once");
    });
    await runnerWith({}, { recurring: [{ name: "flaky", seconds: 1, run }] });
    await vi.waitFor(() => expect(run.mock.calls.length).toBeGreaterThanOrEqual(2), patience);
  });

  it("keeps its time over a restart", async () => {
    const run = vi.fn(async () => {});
    const recurring = [{ name: "daily", seconds: 86_400, run }];
    const first = await runnerWith({}, { recurring });
    await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(1), patience);
    await first.stop();
    runners.length = 0;
    await runnerWith({ work: async () => ({}) }, { recurring });
    await until(await start("work"), "completed");
    expect(run).toHaveBeenCalledTimes(1);
  });
});
