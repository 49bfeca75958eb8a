import sql from "sql-template-tag";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "#platform/clock.ts";
import { need, type Resource } from "#platform/http/endpoint.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { type BareServer, insertBareWorkspace, startBareServer } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { readJobFile, writeJobFile } from "#test/support/job-files.ts";
import type { EndedJob, OnJobEnded } from "./attempt.ts";
import { jobEndpoints } from "./endpoints.ts";
import { removeOtherFiles } from "./file-store.ts";
import { cleanUp } from "./remove-expired-data.ts";
import { type JobOrigin, startJob } from "./start-or-cancel-job.ts";

const subscribers: Resource = { name: "subscribers", label: "Subscribers", group: "Audience" };
const database = await testDatabase();
const log = createLog("silent");
let api: BareServer;
let workspaceId: WorkspaceId;
const types = { subscriber_import: subscribers, subscriber_export: subscribers };
const withoutValues = {
  subscriber_import: (result: unknown) => result && { rows: (result as { rows: number }).rows },
};
const ended: EndedJob[] = [];

beforeAll(async () => {
  const onEnded: OnJobEnded = async (_tx, job) => void ended.push(job);
  api = await startBareServer(database, jobEndpoints({ db: database, types, withoutValues, onEnded }));
});
beforeEach(async () => {
  workspaceId = await insertBareWorkspace(database);
});

const start = async (type = "subscriber_import", owner = workspaceId): Promise<string> => {
  const job = { type, needs: need(subscribers, "write"), input: {}, total: 200 };
  return (await database.transaction((tx) => startJob(tx, owner, job))).job_id;
};
const keyWith = (...permissions: string[]) => api.newKey(workspaceId, { permissions });

/** A job that has ended, with its files. */
async function endedJob(status: "completed" | "failed", files: Record<string, string> = {}): Promise<string> {
  const id = await start();
  await database.run(sql`
    update jobs set status = ${status}, processed = 150, result_file = ${"rows.csv" in files ? "rows.csv" : null},
      errors_file = ${"errors.csv" in files ? "errors.csv" : null}, completed_at = now(),
      expires_at = now() + interval '7 days'
    where id = ${id}`);
  for (const [name, text] of Object.entries(files)) {
    await writeJobFile(database, { workspaceId, jobId: id, name }, text);
  }
  return id;
}

describe("a job that was just started", () => {
  it("is pending, with all fields of the record", async () => {
    const id = await start();
    const { status, body } = await api.call("GET", `/jobs/${id}`, keyWith("jobs:read"));
    expect(status).toBe(200);
    expect(body.data).toEqual({
      id,
      job_id: id,
      type: "subscriber_import",
      label: null,
      actor: null,
      file_name: null,
      resource: null,
      status: "pending",
      progress: 0,
      total: 200,
      processed: 0,
      succeeded: 0,
      failed: 0,
      skipped: 0,
      counts: { created: 0, updated: 0, duplicates: 0, invalid: 0 },
      result: null,
      error: null,
      download_url: null,
      errors_url: null,
      error_rows_url: null,
      created_at: expect.stringMatching(/Z$/),
      started_at: null,
      completed_at: null,
      expires_at: null,
    });
  });

  it("does not exist when the transaction that started it is rolled back", async () => {
    let id = "";
    const broken = database.transaction(async (tx) => {
      const job = { type: "never_started", needs: need(subscribers, "write"), input: {} };
      id = (await startJob(tx, workspaceId, job)).job_id;
      throw new Error("the caller's work failed");
    });
    await expect(broken).rejects.toThrow("the caller's work failed");
    expect((await api.call("GET", `/jobs/${id}`, keyWith("*:*"))).status).toBe(404);
    expect(await database.row(sql`select from job_turns where type = 'never_started'`)).toBeUndefined();
  });
});

describe("a job says what it is about", () => {
  const actor = { kind: "key", id: newId(), name: "Nightly sync" } as const;
  const news = { kind: "mailing_lists", id: newId(), name: "News" };
  const autumn = { kind: "campaigns", id: newId(), name: "Autumn" };
  const about = (resource: typeof news, others: Partial<JobOrigin> = {}, owner = workspaceId) =>
    database.transaction(async (tx) => {
      const origin = { actor, resource, ...others };
      const job = { type: "subscriber_export", needs: need(subscribers, "write"), input: {}, origin };
      return (await startJob(tx, owner, job)).job_id;
    });
  const idsOf = async (query: string) => {
    const { body } = await api.call("GET", `/jobs?${query}`, keyWith("jobs:read"));
    return body.data.jobs.map(({ id }: { id: string }) => id);
  };

  it("who started it, its label, its file, and the resource", async () => {
    const id = await about(news, { label: " March leads ", fileName: "march.csv" });
    const { body } = await api.call("GET", `/jobs/${id}`, keyWith("jobs:read"));
    expect(body.data).toMatchObject({ label: "March leads", actor, file_name: "march.csv", resource: news });
    const unlabelled = await about(news, { label: "  " });
    const shown = (await api.call("GET", `/jobs/${unlabelled}`, keyWith("jobs:read"))).body.data;
    expect(shown).toMatchObject({ label: null, file_name: null });
  });

  it("and is found by the resource, its kind, and who started it, in its own workspace only", async () => {
    const other = { ...actor, id: newId() };
    const [first, second, third] = [
      await about(news),
      await about(autumn),
      await about(news, { actor: other }),
    ];
    await about(news, {}, await insertBareWorkspace(database));
    await start();
    expect(await idsOf(`resource_id=${news.id}`)).toEqual([third, first]);
    expect(await idsOf("resource=campaigns")).toEqual([second]);
    expect(await idsOf(`actor=${actor.id}`)).toEqual([second, first]);
    expect(await idsOf(`actor=${actor.id}&resource_id=${news.id}&status=pending`)).toEqual([first]);
    expect(await idsOf(`resource_id=${newId()}`)).toEqual([]);
    const { status, body } = await api.call("GET", "/jobs?resource_id=news", keyWith("jobs:read"));
    expect([status, body.details[0].field]).toEqual([400, "resource_id"]);
  });

  it("a list of jobs continues after a cursor, although jobs were started meanwhile", async () => {
    const ids = [await about(news), await about(news), await about(news)].toReversed();
    const page = async (query: string) => {
      const { body } = await api.call("GET", `/jobs?limit=2&${query}`, keyWith("jobs:read"));
      return body.data;
    };
    const first = await page(`resource_id=${news.id}`);
    await about(news);
    const next = await page(`resource_id=${news.id}&after=${first.pagination.next_cursor}`);
    expect([...first.jobs, ...next.jobs].map(({ id }: { id: string }) => id)).toEqual(ids);
    expect(next.pagination).toMatchObject({ total: 4, next_cursor: null });
    const other = await api.call("GET", `/jobs?after=${first.pagination.next_cursor}`, keyWith("jobs:read"));
    expect([other.status, other.body.details[0].field]).toEqual([400, "after"]);
  });
});

describe("errors are laid out as a list, or as the rows of the upload", () => {
  const errors = (id: string, layout: string) =>
    api.call("GET", `/jobs/${id}/errors?layout=${layout}`, keyWith("subscribers:read"));

  it("each with its URL in the job", async () => {
    const id = await endedJob("completed", { "errors.csv": "Line\r\n", "x/rows.csv": "Email\r\n" });
    await database.run(sql`update jobs set error_rows_file = 'x/rows.csv' where id = ${id}`);
    const { body } = await api.call("GET", `/jobs/${id}`, keyWith("jobs:read"));
    expect(body.data.error_rows_url).toBe(`/api/v1/jobs/${id}/errors?layout=rows`);
    expect([(await errors(id, "list")).body, (await errors(id, "rows")).body]).toEqual([
      "Line\r\n",
      "Email\r\n",
    ]);
    expect((await errors(id, "table")).status).toBe(400);
  });

  it("and a job that only has the list says so", async () => {
    const id = await endedJob("completed", { "errors.csv": "Line\r\n" });
    const { status, body } = await errors(id, "rows");
    expect([status, body.error]).toEqual([404, expect.stringContaining("only available as a list")]);
  });
});

describe("a missing file of a job is 404, with the reason in the message", () => {
  it("no row was rejected", async () => {
    const id = await endedJob("completed", { "rows.csv": "a" });
    const { status, body } = await api.call("GET", `/jobs/${id}/errors`, keyWith("*:*"));
    expect([status, body.error]).toEqual([404, "No row was rejected, so there is no errors file"]);
  });

  it("the job has not ended", async () => {
    const [waiting, running] = [await start(), await start()];
    await database.run(sql`update jobs set status = 'processing' where id = ${running}`);
    for (const path of [`${waiting}/errors`, `${waiting}/download`, `${running}/errors`]) {
      const { status, body } = await api.call("GET", `/jobs/${path}`, keyWith("*:*"));
      expect([status, body.error]).toEqual([404, expect.stringContaining("has not ended yet")]);
    }
  });

  it("rows were rejected without a file, or the result is not a file", async () => {
    const id = await endedJob("failed");
    await database.run(sql`update jobs set failed = 3 where id = ${id}`);
    const errors = await api.call("GET", `/jobs/${id}/errors`, keyWith("*:*"));
    expect([errors.status, errors.body.error]).toEqual([404, expect.stringContaining("no errors file")]);
    const result = await api.call("GET", `/jobs/${id}/download`, keyWith("*:*"));
    expect([result.status, result.body.error]).toEqual([404, expect.stringContaining("no result file")]);
  });
});

describe("who may see a job", () => {
  it.each(["jobs:read", "jobs:*", "subscribers:read", "subscribers:*", "*:read", "*:*"])(
    "a key with %s may",
    async (permission) => {
      const id = await start();
      expect((await api.call("GET", `/jobs/${id}`, keyWith(permission))).status).toBe(200);
      expect((await api.call("GET", "/jobs", keyWith(permission))).body.data.jobs).toHaveLength(1);
    },
  );

  it.each(["segments:read", "subscribers:write", "jobs:write"])(
    "a key with %s may not, and is told what it lacks",
    async (permission) => {
      const id = await start();
      for (const path of [`/jobs/${id}`, `/jobs/${id}/download`, `/jobs/${id}/errors`]) {
        const { status, body } = await api.call("GET", path, keyWith(permission));
        expect(status).toBe(403);
        expect(body).toMatchObject({ code: "INSUFFICIENT_SCOPE", required_scopes: ["subscribers:read"] });
      }
      const list = await api.call("GET", "/jobs", keyWith(permission));
      expect([list.status, list.body.required_scopes]).toEqual([403, ["jobs:read"]]);
    },
  );

  it("a job of another workspace is 404 like an unknown one", async () => {
    const foreign = await start("subscriber_import", await insertBareWorkspace(database));
    for (const [method, rest] of [
      ["GET", ""],
      ["GET", "/download"],
      ["GET", "/errors"],
      ["POST", "/cancel"],
    ] as const) {
      const other = await api.call(method, `/jobs/${foreign}${rest}`, keyWith("*:*"));
      const unknown = await api.call(method, `/jobs/${newId()}${rest}`, keyWith("*:*"));
      expect(other.status).toBe(404);
      expect(other.body).toEqual(unknown.body);
    }
    expect((await api.call("GET", "/jobs", keyWith("*:*"))).body.data.jobs).toEqual([]);
  });
});

describe("the list of jobs", () => {
  it("is newest first, paged and filtered by type and status", async () => {
    const ids = [await start(), await start("subscriber_export"), await start()];
    const key = keyWith("jobs:read");
    const idsOf = async (query: string) => {
      const { body } = await api.call("GET", `/jobs${query}`, key);
      return body.data.jobs.map((job: { id: string }) => job.id);
    };
    expect(await idsOf("")).toEqual(ids.toReversed());
    expect(await idsOf("?limit=2&page=2")).toEqual([ids[0]]);
    expect(await idsOf("?type=subscriber_import")).toEqual([ids[2], ids[0]]);
    expect(await idsOf("?status=pending&type=subscriber_export")).toEqual([ids[1]]);
    expect(await idsOf("?status=failed")).toEqual([]);
  });

  it.each(["status", "type"])("refuses a %s that there is not", async (field) => {
    const { status, body } = await api.call("GET", `/jobs?${field}=foo`, keyWith("jobs:read"));
    expect(status).toBe(400);
    expect(body.details[0].field).toBe(field);
  });
});

describe("the values of people in a job's result", () => {
  it("are only shown to callers who may read what the job is about", async () => {
    const id = await endedJob("completed");
    const result = { rows: 1, examples: { new: [{ line: 2, email: "ann@example.test" }] } };
    await database.run(sql`update jobs set result = ${JSON.stringify(result)}::jsonb where id = ${id}`);
    const resultsFor = async (key: Parameters<typeof api.call>[2]) => [
      (await api.call("GET", `/jobs/${id}`, key)).body.data.result,
      (await api.call("GET", "/jobs", key)).body.data.jobs[0].result,
    ];
    expect(await resultsFor(keyWith("subscribers:read"))).toEqual([result, result]);
    const shown = { rows: 1 };
    expect(await resultsFor(keyWith("jobs:read"))).toEqual([shown, shown]);
  });
});

describe("the files of a job", () => {
  it("are downloads of its CSV", async () => {
    const id = await endedJob("completed", {
      "rows.csv": "Email\r\na@example.test\r\n",
      "errors.csv": "Row\r\n3\r\n",
    });
    const key = keyWith("subscribers:read");
    const { body: job } = await api.call("GET", `/jobs/${id}`, key);
    expect(job.data).toMatchObject({ progress: 100, download_url: `/api/v1/jobs/${id}/download` });
    const download = await api.call("GET", `/jobs/${id}/download`, key);
    expect(download.status).toBe(200);
    expect(download.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(download.headers.get("content-disposition")).toContain('attachment; filename="rows.csv"');
    expect(download.body).toBe("Email\r\na@example.test\r\n");
    expect((await api.call("GET", `/jobs/${id}/errors`, key)).body).toBe("Row\r\n3\r\n");
  });

  it("are refused to a key with jobs:read only", async () => {
    const id = await endedJob("completed", { "rows.csv": "x", "errors.csv": "x" });
    for (const name of ["download", "errors"]) {
      const { status, body } = await api.call("GET", `/jobs/${id}/${name}`, keyWith("jobs:*"));
      expect([status, body.code, body.required_scopes]).toEqual([
        403,
        "INSUFFICIENT_SCOPE",
        ["subscribers:read"],
      ]);
    }
  });

  it("are 404 when there are none, when they are gone, and when the job has expired", async () => {
    const key = keyWith("subscribers:read");
    const without = await endedJob("failed");
    expect((await api.call("GET", `/jobs/${without}/download`, key)).body.code).toBe("NOT_FOUND");
    const lost = await endedJob("completed", { "rows.csv": "x" });
    await removeOtherFiles(database, workspaceId, lost, []);
    expect((await api.call("GET", `/jobs/${lost}/download`, key)).status).toBe(404);
    const expired = await endedJob("completed", { "rows.csv": "x" });
    await database.run(sql`update jobs set expires_at = now() where id = ${expired}`);
    expect((await api.call("GET", `/jobs/${expired}/download`, key)).status).toBe(404);
    expect((await api.call("GET", `/jobs/${expired}`, key)).status).toBe(404);
  });

  it("are deleted with the job when it has expired", async () => {
    const kept = await endedJob("completed", { "rows.csv": "kept" });
    const expired = await endedJob("completed", { "rows.csv": "x" });
    const file = { workspaceId, jobId: expired, name: "rows.csv" };
    const sweepAfter = async (age: string) => {
      await database.run(sql`update jobs set expires_at = now() - ${age}::interval where id = ${expired}`);
      for (const task of cleanUp(database, systemClock))
        await task.run({ signal: new AbortController().signal, log });
    };
    // A download may have begun before.
    await sweepAfter("59 minutes");
    expect(await readJobFile(database, file)).toBe("x");
    await sweepAfter("61 minutes");
    expect(await database.row(sql`select from jobs where id = ${expired}`)).toBeUndefined();
    await expect(readJobFile(database, file)).rejects.toThrow("no file");
    expect((await api.call("GET", `/jobs/${kept}/download`, keyWith("subscribers:read"))).body).toBe("kept");
  });
});

describe("cancelling a job", () => {
  it("ends a waiting one at once; again changes nothing", async () => {
    const id = await start();
    const key = keyWith("subscribers:write");
    const first = await api.call("POST", `/jobs/${id}/cancel`, key);
    expect(first.status).toBe(200);
    expect(first.body).toMatchObject({ message: "Job cancelled", data: { status: "cancelled" } });
    expect(first.body.data.expires_at).not.toBeNull();
    const second = await api.call("POST", `/jobs/${id}/cancel`, key);
    expect(second.body).toEqual(first.body);
  });

  it("reports the end of a waiting one once", async () => {
    const [waiting, running] = [await start("waiting"), await start("running")];
    await database.run(sql`update jobs set status = 'processing' where id = ${running}`);
    ended.length = 0;
    for (const id of [waiting, running, waiting]) {
      await api.call("POST", `/jobs/${id}/cancel`, keyWith("jobs:write"));
    }
    expect(ended).toMatchObject([
      {
        workspaceId,
        id: waiting,
        type: "waiting",
        status: "cancelled",
        progress: { total: 200, processed: 0 },
      },
    ]);
  });

  it("asks a running one to stop", async () => {
    const id = await start();
    await database.run(sql`update jobs set status = 'processing' where id = ${id}`);
    const { body } = await api.call("POST", `/jobs/${id}/cancel`, keyWith("jobs:write"));
    expect(body).toMatchObject({ message: "The job will stop shortly", data: { status: "processing" } });
    const row = await database.row(sql`select cancel_requested from jobs where id = ${id}`);
    expect(row).toEqual({ cancel_requested: true });
  });

  it.each(["completed", "failed"] as const)("is a conflict when the job has %s", async (status) => {
    const id = await endedJob(status);
    const { status: code, body } = await api.call("POST", `/jobs/${id}/cancel`, keyWith("jobs:write"));
    expect(code).toBe(409);
    expect(body).toMatchObject({ code: "CONFLICT", error: `The job has already ${status}` });
  });

  it("requires the write permission", async () => {
    const id = await start();
    const { status, body } = await api.call("POST", `/jobs/${id}/cancel`, keyWith("*:read"));
    expect(status).toBe(403);
    expect(body.required_scopes).toEqual(["subscribers:write"]);
  });
});
