/** Two machines on one database: one handles uploads and downloads, the other runs the jobs. They share no disk. */
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findMiscounts } from "#test/support/audience.ts";
import { newDatabase } from "#test/support/database.ts";
import { endedJob, expireDeadRunners } from "#test/support/ended-job.ts";
import { eventually } from "#test/support/eventually.ts";
import { startFakeDns } from "#test/support/fake-dns.ts";
import { type Program, startProgram } from "#test/support/program.ts";
import { mailDomain, platform } from "#test/support/scene.ts";

const JOB_MS = 120_000;
const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());
const folder = await mkdtemp(join(tmpdir(), "posthaste-e2e-"));
stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
const dns = stack.use(await startFakeDns(mailDomain("a.example")));
const database = stack.use(await newDatabase());
const startMachine = async (name: string, roles: string) =>
  stack.use(
    await startProgram(
      {
        ...platform,
        BOOTSTRAP_API_KEY: `efk_${"2222".repeat(10)}`,
        BOOTSTRAP_PLAN: "enterprise",
        SECRET_KEY: "2".repeat(64),
        MAIL_MODE: "capture",
        DNS_SERVERS: dns.address,
        DATA_DIR: join(folder, name),
        DATABASE_URL: database.url,
      },
      ["serve", "--roles", roles],
    ),
  );

let api: Program;
let jobs: Program;
const uploads = join(folder, "api", "uploads");
beforeAll(async () => {
  await mkdir(uploads, { recursive: true });
  await writeFile(join(uploads, "left behind"), "half of a file");
  await utimes(join(uploads, "left behind"), 0, 0);
  api = await startMachine("api", "api");
  // The role api is only for /readyz: the test sends all requests to the other machine.
  jobs = await startMachine("jobs", "api,jobs");
});

const newList = async () => (await api.call("POST", "/mailing-lists", { name: "News" })).body.data.id;
const upload = (path: string, field: string, text: string) => {
  const form = new FormData();
  form.append(field, new Blob([text]), "people.csv");
  return api.call("POST", path, form);
};
const linesAt = async (url: string): Promise<string[]> => {
  const { status, body } = await api.call("GET", url.replace("/api/v1", ""));
  expect(status).toBe(200);
  return body.trim().split("\r\n");
};

test("a machine without the role jobs removes its stale uploads", async () => {
  await eventually("the file to go", async () => (await readdir(uploads)).length === 0);
});

test("an import, an export and a bulk validation start on one machine, run on another, and their files download from the first", async () => {
  const list = await newList();
  const path = `/mailing-lists/${list}/subscribers`;
  const imported = await endedJob(
    api,
    await upload(`${path}/import-async`, "csvFile", "Email\nada@a.example\nnobody\nbob@a.example\n"),
  );
  expect(imported).toMatchObject({ status: "completed", error: null, counts: { created: 2, invalid: 1 } });
  expect(await linesAt(imported.errors_url)).toEqual([
    "Line,Column,Value,Reason",
    expect.stringMatching(/^3,Email,nobody,/),
  ]);

  const exported = await endedJob(api, await api.call("POST", `${path}/export-async`));
  const rows = await linesAt(exported.download_url);
  expect(rows.map((row) => row.split(",")[0])).toEqual(["Email", "bob@a.example", "ada@a.example"]);

  const validated = await endedJob(api, await upload("/validations/bulk", "file", "ada@a.example\nnobody\n"));
  expect(validated).toMatchObject({ status: "completed", error: null });
  const answers = await linesAt(validated.download_url);
  expect(answers.map((row) => row.split(",")[0])).toEqual(["email", "ada@a.example", "nobody"]);

  for (const machine of ["api", "jobs"]) {
    expect(await readdir(join(folder, machine, "uploads")).catch(() => [])).toEqual([]);
  }
});

test("an import continues on another machine after its machine is lost, with exact counts and invalid rows", async () => {
  const people = 100_000;
  const list = await newList();
  const rows = Array.from({ length: people }, (_, at) => `p${at}@lost.example`);
  for (let at = 0; at < 20; at++) rows.splice(at * 5_000, 0, `nobody ${at}`);
  const { body } = await upload(
    `/mailing-lists/${list}/subscribers/import-async`,
    "csvFile",
    `Email\n${rows.join("\n")}\np7@lost.example\n`,
  );
  const written = async () =>
    (await database.rows(sql`select from import_batches where job_id = ${body.data.job_id}`)).length;
  await eventually("some batches", async () => (await written()) > 0, JOB_MS);
  await jobs.kill("SIGKILL");
  expect(await written()).toBeLessThan(people / 20_000);
  await rm(join(folder, "jobs"), { recursive: true });
  await expireDeadRunners(database);
  await startMachine("other", "api,jobs");

  const ended = await endedJob(api, { status: 202, body }, JOB_MS);
  expect(ended).toMatchObject({
    status: "completed",
    processed: people + 21,
    counts: { created: people, updated: 0, unchanged: 0, duplicates: 1, invalid: 20 },
  });
  const refused = await linesAt(ended.errors_url);
  expect(refused.slice(1).map((row) => row.split(",")[2])).toEqual(
    Array.from({ length: 20 }, (_, at) => `nobody ${at}`),
  );
  const held = await database.row(sql`
    select count(*)::int as members from memberships where mailing_list_id = ${list}`);
  expect(held).toEqual({ members: people });
  expect(await findMiscounts(database)).toEqual([]);
}, 240_000);
