import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { need, type Resource } from "#platform/http/endpoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { tempFolder } from "#platform/process/temp-files.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { readJobFile } from "#test/support/job-files.ts";
import {
  copyFile,
  downloadName,
  INPUT_FILE,
  openFile,
  openTempFile,
  PART_BYTES,
  readBytes,
  startWithInput,
  storeWhole,
} from "./files.ts";
import { JobLineFile } from "./line-file.ts";
import { startJob } from "./start-or-cancel-job.ts";

const things: Resource = { name: "things", label: "Things", group: "Audience" };
const db = await testDatabase();
const dataDir = await mkdtemp(join(tmpdir(), "posthaste-files-"));
afterAll(() => rm(dataDir, { recursive: true }));
let workspaceId: WorkspaceId;
beforeEach(async () => {
  workspaceId = await insertBareWorkspace(db);
});

/** A job that was started with this upload. */
async function startWith(content: Buffer | string): Promise<string> {
  const path = join(dataDir, "upload");
  await writeFile(path, content);
  const needs = need(things, "write");
  const { job_id } = await startWithInput(db, workspaceId, path, (tx, id) =>
    startJob(tx, workspaceId, { id, type: "read", needs, input: {} }),
  );
  return job_id;
}

/** Of more than two parts, every byte of which tells its place. */
const LONG = Buffer.from(Uint32Array.from({ length: 700_000 }, (_, at) => at * 2_654_435_761).buffer);

describe("an upload", () => {
  it.each([
    ["that is empty", Buffer.alloc(0)],
    ["of exactly a part", LONG.subarray(0, PART_BYTES)],
    ["of several parts", LONG],
    ["of more parts than are copied at once", Buffer.concat(Array<Buffer>(8).fill(LONG))],
  ])("%s is the same on every machine, which keeps no copy", async (_what, content) => {
    const file = { workspaceId, jobId: await startWith(content), name: INPUT_FILE };
    {
      await using copy = await openTempFile(dataDir);
      await copyFile(db, file, copy.path);
      expect((await readFile(copy.path)).equals(content)).toBe(true);
    }
    expect(await readdir(tempFolder(dataDir))).toEqual([]);
  });

  it("is there only with its job", async () => {
    const path = join(dataDir, "refused");
    await writeFile(path, "x");
    const refused = startWithInput(db, workspaceId, path, async () => {
      throw new Error("no room");
    });
    await expect(refused).rejects.toThrow("no room");
    expect(await db.rows(sql`select from job_file_parts where workspace_id = ${workspaceId}`)).toEqual([]);
  });
});

describe("uploads at the same time", () => {
  const path = join(dataDir, "small");
  const upload = (by: WorkspaceId, start: () => Promise<void>) =>
    startWithInput(db, by, path, async (tx, id) => {
      await startJob(tx, by, { id, type: "read", needs: need(things, "write"), input: {} });
      await start();
    });
  beforeEach(() => writeFile(path, "x"));

  it("of one workspace wait for each other, and others do not", async () => {
    const finish = Promise.withResolvers<void>();
    const own = [upload(workspaceId, () => finish.promise), upload(workspaceId, () => finish.promise)];
    await upload(await insertBareWorkspace(db), async () => {});
    finish.resolve();
    await Promise.all(own);
  });

  it("of one workspace are refused if too many wait", async () => {
    const finish = Promise.withResolvers<void>();
    const own = Array.from({ length: 51 }, () => upload(workspaceId, () => finish.promise));
    await expect(upload(workspaceId, async () => {})).rejects.toMatchObject({ code: "RATE_LIMIT_EXCEEDED" });
    finish.resolve();
    await Promise.all(own);
  });

  it("of many workspaces take two connections at most", async () => {
    const workspaces = await Promise.all(Array.from({ length: 6 }, () => insertBareWorkspace(db)));
    let running = 0;
    let most = 0;
    const uploads = workspaces.map((by) =>
      upload(by, async () => {
        most = Math.max(most, ++running);
        await db.run(sql`select`);
        running--;
      }),
    );
    await Promise.all(uploads);
    expect(most).toBeLessThanOrEqual(2);
  });
});

describe("a file", () => {
  it("that is written line by line is complete, however many parts it has", async () => {
    const id = await startWith("x");
    const file = new JobLineFile(db, { workspaceId, id }, "rows.csv");
    const lines = Array.from({ length: 40_000 }, (_, at) => `${at} ${"é".repeat(at % 97)}\r\n`);
    for (const line of lines) {
      file.add(line);
      if (file.isFull) await file.flush();
    }
    await file.close();
    expect(downloadName(file.name)).toBe("rows.csv");
    expect(await readJobFile(db, { workspaceId, jobId: id, name: file.name })).toBe(lines.join(""));
  });

  it("whose writer is aborted is stored no further", async () => {
    const id = await startWith("x");
    {
      await using file = new JobLineFile(db, { workspaceId, id }, "rows.csv");
      file.add("x".repeat(PART_BYTES));
      await file.flush();
    }
    const parts = sql`select from job_file_parts where job_id = ${id} and name like '%rows.csv'`;
    expect(await db.rows(parts)).toHaveLength(1);
  });

  it("is read from the middle, over the ends of its parts", async () => {
    const file = { workspaceId, jobId: await startWith(LONG), name: INPUT_FILE };
    const range = { offset: PART_BYTES - 10, bytes: PART_BYTES + 20 };
    const pieces = await Array.fromAsync(readBytes(db, file, range));
    expect(Buffer.concat(pieces).equals(LONG.subarray(range.offset, range.offset + range.bytes))).toBe(true);
  });

  it("that is there already stays as it is", async () => {
    const file = { workspaceId, jobId: await startWith("x"), name: "note" };
    const store = (text: string) => storeWhole(db, file, Buffer.from(text));
    expect(await store("first")).toBe(true);
    expect(await store("second")).toBe(false);
    expect(await readJobFile(db, file)).toBe("first");
  });

  it("that is deleted during a download ends with an error", async () => {
    const file = { workspaceId, jobId: await startWith(LONG), name: INPUT_FILE };
    const content = await openFile(db, file);
    const pieces = content?.[Symbol.asyncIterator]();
    expect((await pieces?.next())?.done).toBe(false);
    await db.run(sql`delete from jobs where id = ${file.jobId}`);
    const rest = async () => {
      while (!(await pieces?.next())?.done);
    };
    await expect(rest()).rejects.toThrow("is incomplete");
  });
});
