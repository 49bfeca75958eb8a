import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parse } from "csv-parse/sync";
import sql from "sql-template-tag";
import { afterAll, describe, expect, it, test, vi } from "vitest";
import type { ProbeFinding } from "#hygiene/probe/finding.ts";
import { type ProbeQuestion, type Prober, SmtpProber } from "#hygiene/probe/prober.ts";
import { ProviderRateLimit } from "#hygiene/probe/provider-rate-limit.ts";
import { createAddressChecker } from "#hygiene/validations/address-checker.ts";
import { createAddressLists } from "#hygiene/validations/disposable-and-role-lists.ts";
import { listValidations } from "#hygiene/validations/store.ts";
import { validations } from "#hygiene/validations/validation.ts";
import { systemClock } from "#platform/clock.ts";
import { need } from "#platform/http/endpoint.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { attemptJob } from "#platform/jobs/attempt.ts";
import { INPUT_FILE } from "#platform/jobs/files.ts";
import { findJob, updateJobToCancel } from "#platform/jobs/job-record-store.ts";
import { startJob } from "#platform/jobs/start-or-cancel-job.ts";
import { createLog } from "#platform/log/log.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { stubClock } from "#test/support/clock.ts";
import { testDatabase } from "#test/support/database.ts";
import { eventually } from "#test/support/eventually.ts";
import { startFakeDns } from "#test/support/fake-dns.ts";
import { startFakeMx } from "#test/support/fake-mx.ts";
import { readJobFile, writeJobFile } from "#test/support/job-files.ts";
import { getMeterReading } from "#workspace/billing/meter.ts";
import { plans } from "#workspace/billing/plans.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";
import { BULK_JOB, bulkHandler } from "./bulk-job.ts";
import type { RoundPauses } from "./divide-into-rounds.ts";
import { startBulkValidation } from "./start-bulk.ts";

vi.setConfig({ testTimeout: 60_000 });
const db = await testDatabase();
const dns = await startFakeDns({
  "*.good.test": { MX: [[10, "mx.good.test"]] },
  "mx.good.test": { A: ["127.0.0.1"] },
  "good.test": { MX: [[10, "mx.good.test"]] },
});
const dataDir = await mkdtemp(join(tmpdir(), "posthaste-bulk-"));
afterAll(async () => {
  await dns.close();
  await rm(dataDir, { recursive: true, force: true });
});

const handlerWith = (prober: Prober | null = null, changes: Partial<RoundPauses> = {}) => {
  const checker = createAddressChecker({
    clock: systemClock,
    resolver: dns.resolver,
    lists: createAddressLists(dataDir, []),
    allowPrivateMx: true,
    prober,
  });
  const pauses = { greylistPauseMs: 50, retryPauseMs: 50, ...changes };
  return bulkHandler({ db, clock: systemClock, plans, checker, pauses });
};

/** A server with a given answer for each local part. */
function proberThat(answer: (local: string, question: ProbeQuestion) => Partial<ProbeFinding>) {
  const questions: ProbeQuestion[] = [];
  const prober: Prober = {
    async probe(question) {
      questions.push(question);
      return question.localparts.map((local) => ({
        result: "accepted",
        code: 250,
        enhancedCode: "2.1.5",
        message: "ok",
        mxHost: question.hosts[0] ?? null,
        port: 25,
        tls: true,
        durationMs: 3,
        catchAllChecked: !question.isCatchAllKnown,
        isCatchAll: question.isCatchAllKnown ? null : false,
        isMailboxFull: false,
        ...answer(local, question),
      }));
    },
    async close() {},
  };
  return { prober, questions };
}

async function newWorkspace(left?: number): Promise<WorkspaceId> {
  const workspaceId = await insertBareWorkspace(db);
  await changeWorkspace(
    db,
    workspaceId,
    { plan: left === undefined ? "enterprise" : "free" },
    { clock: systemClock, plans },
  );
  if (left !== undefined) {
    await db.run(sql`
      insert into meter_entries (workspace_id, kind, quantity, created_at)
      values (${workspaceId}, 'validation', ${100 - left}, now())`);
  }
  return workspaceId;
}

async function start(workspaceId: WorkspaceId, text: string): Promise<string> {
  const id = newId();
  const input = { file_name: "addresses.csv" };
  await startJob(db, workspaceId, { id, type: BULK_JOB, needs: need(validations, "write"), input });
  await writeJobFile(db, { workspaceId, jobId: id, name: INPUT_FILE }, text);
  return id;
}

const attempt = (
  workspaceId: WorkspaceId,
  id: string,
  handler = handlerWith(),
  stopping = new AbortController().signal,
  turnMs = 60_000,
) =>
  attemptJob({ database: db, dataDir, log: createLog("silent"), stopping, turnMs }, handler, {
    workspace_id: workspaceId,
    id,
  });

async function run(workspaceId: WorkspaceId, text: string, handler = handlerWith()) {
  const id = await start(workspaceId, text);
  await attemptToEnd(workspaceId, id, handler);
  return ended(workspaceId, id);
}

/** Runs the job like the runner, without pauses. @returns the number of runs */
async function attemptToEnd(workspaceId: WorkspaceId, id: string, handler = handlerWith()) {
  for (let turns = 1; ; turns++) {
    await attempt(workspaceId, id, handler);
    if ((await findJob(db, workspaceId, id))?.status !== "processing") return turns;
  }
}

async function ended(workspaceId: WorkspaceId, id: string) {
  const job = await findJob(db, workspaceId, id);
  const read = async (name: string | null | undefined): Promise<Record<string, string>[]> =>
    name ? parse(await readJobFile(db, { workspaceId, jobId: id, name }), { columns: true }) : [];
  return { job, rows: await read(job?.result_file), rest: await read(job?.errors_file) };
}

const used = async (workspaceId: WorkspaceId) =>
  (await getMeterReading(db, plans, workspaceId, systemClock.now())).used.validation;
const historyOf = (workspaceId: WorkspaceId) =>
  listValidations(db, workspaceId, { limit: 100_000, offset: 0 });
const lines = (count: number, domains = 10) =>
  Array.from({ length: count }, (_, at) => `u${at}@d${at % domains}.good.test`).join("\n");

test("every address of a file is answered once, in the order of the file", async () => {
  const workspaceId = await newWorkspace();
  const text = [
    "Name,E-Mail",
    "Ada,ada@good.test",
    "Nobody,nobody",
    "Role,info@a.good.test",
    "Ada again,ADA@good.test",
    "Gone,x@gone.test",
    "Formula,=1+1@good.test",
    "",
  ].join("\r\n");
  const { job, rows, rest } = await run(workspaceId, text);
  expect(rows.map(({ email, status, risk_score }) => [email, status, risk_score])).toEqual([
    ["ada@good.test", "valid", "2"],
    ["nobody", "invalid", "10"],
    ["info@a.good.test", "role-based", "4"],
    ["x@gone.test", "invalid", "10"],
    ["'=1+1@good.test", "valid", "2"],
  ]);
  expect(rows[0]).toMatchObject({
    format_valid: "true",
    domain_valid: "true",
    mx_record_found: "true",
    email_exists: "",
    is_role_based: "false",
    suggestion: "",
    mx_host: "mx.good.test",
  });
  expect(rest).toEqual([]);
  const counts = { valid: 2, invalid: 2, role_based: 1, duplicates: 1 };
  expect(job).toMatchObject({
    status: "completed",
    total: 6,
    processed: 6,
    succeeded: 5,
    failed: 0,
    skipped: 1,
    counts,
    result: { file_name: "addresses.csv", addresses: 5, ...counts, not_validated: 0, stopped_by: null },
  });
  expect(await used(workspaceId)).toBe(4);
  const history = await historyOf(workspaceId);
  expect(Object.fromEntries(history.map(({ email, cost }) => [email, cost]))).toEqual({
    "=1+1@good.test": 1,
    "ada@good.test": 1,
    "info@a.good.test": 1,
    nobody: 0,
    "x@gone.test": 1,
  });
});

test("each domain is looked up once, however many addresses it has", async () => {
  dns.questions.length = 0;
  await run(await newWorkspace(), lines(1_000, 5));
  const asked = dns.questions.filter(({ type }) => type === "MX").map(({ name }) => name);
  expect(asked.sort()).toEqual(["d0", "d1", "d2", "d3", "d4"].map((name) => `${name}.good.test`));
});

test("a job stops exactly at the limit, and lists the rest", async () => {
  const workspaceId = await newWorkspace(100);
  const { job, rows, rest } = await run(workspaceId, `${lines(620)}\nnobody\n`);
  expect([await used(workspaceId), rows.filter(({ status }) => status === "valid").length]).toEqual([
    100, 100,
  ]);
  const free = rows.filter(({ status }) => status === "invalid").length;
  expect(rows.length + rest.length).toBe(621);
  expect(rest[0]).toMatchObject({ Column: "email", Reason: expect.stringContaining("allowance") });
  expect(new Set([...rows.map(({ email }) => email), ...rest.map(({ Value }) => Value)]).size).toBe(621);
  expect(job).toMatchObject({
    status: "completed",
    processed: 621,
    succeeded: 100 + free,
    failed: rest.length,
    result: { not_validated: rest.length, stopped_by: "plan_limit_reached" },
  });
  expect(await historyOf(workspaceId)).toHaveLength(rows.length);
});

describe("an interrupted job", () => {
  const TOTAL = 4_000;
  const batchesOf = async (id: string) =>
    (await db.row<{ n: number }>(sql`select count(*)::int as n from validation_batches where job_id = ${id}`))
      ?.n ?? 0;

  it("continues where it was, and charges nothing twice", async () => {
    const workspaceId = await newWorkspace();
    const id = await start(workspaceId, lines(TOTAL));
    const stopping = new AbortController();
    const first = attempt(workspaceId, id, handlerWith(), stopping.signal);
    await eventually("a batch to be written", async () => (await batchesOf(id)) > 0);
    stopping.abort();
    await first;
    expect(await findJob(db, workspaceId, id)).toMatchObject({ status: "pending" });
    expect(await batchesOf(id)).toBeLessThan(16);
    await attempt(workspaceId, id);
    const { job, rows } = await ended(workspaceId, id);
    expect(job).toMatchObject({ status: "completed", succeeded: TOTAL, counts: { valid: TOTAL } });
    expect(new Set(rows.map(({ email }) => email)).size).toBe(TOTAL);
    expect(await used(workspaceId)).toBe(TOTAL);
    expect(await historyOf(workspaceId)).toHaveLength(TOTAL);
  });

  it("that runs twice at once, because one run was taken for dead, charges nothing twice", async () => {
    const workspaceId = await newWorkspace();
    const id = await start(workspaceId, lines(2_000));
    await Promise.all([attempt(workspaceId, id), attempt(workspaceId, id)]);
    await attempt(workspaceId, id);
    const { job, rows } = await ended(workspaceId, id);
    expect([job?.status, rows.length, await used(workspaceId)]).toEqual(["completed", 2_000, 2_000]);
    expect(await historyOf(workspaceId)).toHaveLength(2_000);
  });

  it("that is cancelled before any result charges nothing, however small it is", async () => {
    const workspaceId = await newWorkspace();
    const id = await start(workspaceId, lines(20, 1));
    const { prober } = proberThat(() => ({}));
    const cancelling: Prober = {
      ...prober,
      async probe(question, deadlineMs) {
        await updateJobToCancel(db, workspaceId, id);
        return prober.probe(question, deadlineMs);
      },
    };
    await attempt(workspaceId, id, handlerWith(cancelling));
    const { job, rows, rest } = await ended(workspaceId, id);
    expect([job?.status, rows.length, rest.length]).toEqual(["cancelled", 0, 20]);
    expect([await used(workspaceId), await historyOf(workspaceId)]).toEqual([0, []]);
  });

  it("that is cancelled keeps its results, and charges no more", async () => {
    const workspaceId = await newWorkspace();
    const id = await start(workspaceId, lines(TOTAL, 1));
    const { prober, questions } = proberThat(() => ({}));
    const slow: Prober = {
      ...prober,
      probe: (question, deadlineMs) => delay(10).then(() => prober.probe(question, deadlineMs)),
    };
    const running = attempt(workspaceId, id, handlerWith(slow));
    await eventually("the server to be asked", async () => questions.length > 100);
    await updateJobToCancel(db, workspaceId, id);
    await running;
    const { job, rows, rest } = await ended(workspaceId, id);
    expect(job?.status).toBe("cancelled");
    expect(rest.length).toBeGreaterThan(0);
    expect(rows.length + rest.length).toBe(TOTAL);
    expect(await used(workspaceId)).toBe(rows.length);
    expect(job).toMatchObject({ total: TOTAL, processed: rows.length, succeeded: rows.length, failed: 0 });
    expect(job?.result).toMatchObject({ not_validated: rest.length });
  });
});

describe("servers that are asked", () => {
  it("are asked about two addresses per session, one session after the other, with one catch-all test", async () => {
    const { prober, questions } = proberThat((local) =>
      local === "u2" ? { result: "rejected", code: 550 } : {},
    );
    const { rows } = await run(await newWorkspace(), lines(5, 1), handlerWith(prober));
    expect(questions.map(({ localparts, isCatchAllKnown }) => [localparts, isCatchAllKnown])).toEqual([
      [["u0", "u1"], false],
      [["u2", "u3"], true],
      [["u4"], true],
    ]);
    expect(rows.map(({ status, email_exists, smtp_code }) => [status, email_exists, smtp_code])).toEqual([
      ["valid", "true", "250"],
      ["valid", "true", "250"],
      ["invalid", "false", "550"],
      ["valid", "true", "250"],
      ["valid", "true", "250"],
    ]);
  });

  it("that greylist are asked once more, and each address is charged once", async () => {
    const seen = new Set<string>();
    const { prober, questions } = proberThat((local) => {
      if (local === "stubborn") return { result: "greylisted", code: 450 };
      const isFirst = !seen.has(local);
      seen.add(local);
      return isFirst && local.startsWith("grey") ? { result: "greylisted", code: 450 } : {};
    });
    const workspaceId = await newWorkspace();
    const text = "grey1@good.test\nfine@good.test\nstubborn@good.test\ngrey2@good.test\n";
    const { job, rows } = await run(workspaceId, text, handlerWith(prober));
    expect(rows.map(({ email, status, smtp_result }) => [email, status, smtp_result])).toEqual([
      ["grey1@good.test", "valid", "accepted"],
      ["fine@good.test", "valid", "accepted"],
      ["stubborn@good.test", "unknown", "greylisted"],
      ["grey2@good.test", "valid", "accepted"],
    ]);
    expect(questions.flatMap(({ localparts }) => localparts)).toEqual([
      "grey1",
      "fine",
      "stubborn",
      "grey2",
      "grey1",
      "stubborn",
      "grey2",
    ]);
    expect(job).toMatchObject({ succeeded: 4, counts: { valid: 3, unknown: 1 } });
    expect(await used(workspaceId)).toBe(4);
  });

  it("beyond the rate limit of their provider are asked in later rounds, and charged only then", async () => {
    await using mx = await startFakeMx();
    const prober = new SmtpProber({
      resolver: dns.resolver,
      ehloName: "out.example.test",
      port: mx.port,
      allowPrivate: true,
      rateLimit: new ProviderRateLimit({ mostWaiting: 3, perMinute: 1_000 }),
    });
    const workspaceId = await newWorkspace();
    const id = await start(workspaceId, lines(40, 20));
    await attempt(workspaceId, id, handlerWith(prober, { retryPauseMs: 600_000 }));
    expect((await findJob(db, workspaceId, id))?.status).toBe("processing");
    const paid = await used(workspaceId);
    expect(paid).toBeLessThan(40);
    expect(await historyOf(workspaceId)).toHaveLength(paid);
    await attemptToEnd(workspaceId, id, handlerWith(prober));
    await prober.close();
    const { job, rows } = await ended(workspaceId, id);
    expect(rows.map(({ smtp_result }) => smtp_result)).toEqual(Array(40).fill("accepted"));
    expect(job).toMatchObject({ status: "completed", succeeded: 40, failed: 0 });
    expect([await used(workspaceId), (await historyOf(workspaceId)).length]).toEqual([40, 40]);
  });

  it("are asked again after the prober was stopped", async () => {
    const seen = new Set<string>();
    const { prober } = proberThat((local) => {
      const isFirst = !seen.has(local);
      seen.add(local);
      return isFirst ? { result: "stopped", code: null } : {};
    });
    const workspaceId = await newWorkspace();
    const { rows } = await run(workspaceId, lines(2, 1), handlerWith(prober));
    expect(rows.map(({ smtp_result }) => smtp_result)).toEqual(["accepted", "accepted"]);
    expect(await used(workspaceId)).toBe(2);
  });

  it("that do not answer are not asked about the other addresses", async () => {
    const { prober, questions } = proberThat(() => ({ result: "timeout", code: null }));
    const { rows } = await run(await newWorkspace(), lines(10, 1), handlerWith(prober));
    expect(questions).toHaveLength(1);
    expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(["unknown"]));
  });

  it("do not delay the cancellation of a job that waits for them", async () => {
    const { prober } = proberThat(() => ({ result: "greylisted", code: 450 }));
    const handler = handlerWith(prober, { greylistPauseMs: 300_000 });
    const workspaceId = await newWorkspace();
    const id = await start(workspaceId, "a@good.test\n");
    await attempt(workspaceId, id, handler);
    expect((await findJob(db, workspaceId, id))?.status).toBe("processing");
    await updateJobToCancel(db, workspaceId, id);
    await attempt(workspaceId, id, handler);
    const { job, rest } = await ended(workspaceId, id);
    expect([job?.status, rest.map(({ Reason }) => Reason)]).toEqual([
      "cancelled",
      ["Not validated: the job was cancelled"],
    ]);
    expect(await used(workspaceId)).toBe(0);
  });
});

it("a job that takes long gives up its slot, and continues where it was", async () => {
  const workspaceId = await newWorkspace();
  const id = await start(workspaceId, lines(3_000));
  const other = await start(workspaceId, lines(1));
  await attempt(workspaceId, id, handlerWith(), undefined, 0);
  expect((await findJob(db, workspaceId, id))?.status).toBe("processing");
  await db.run(sql`delete from jobs where id = ${other}`);
  await attempt(workspaceId, id, handlerWith(), undefined, 0);
  const { job, rows } = await ended(workspaceId, id);
  expect([job?.status, rows.length, await used(workspaceId)]).toEqual(["completed", 3_000, 3_000]);
});

it("nothing is validated while its workspace is suspended", async () => {
  const workspaceId = await newWorkspace();
  const id = await start(workspaceId, lines(20));
  await changeWorkspace(db, workspaceId, { is_suspended: true }, { clock: systemClock, plans });
  await attempt(workspaceId, id);
  expect([(await findJob(db, workspaceId, id))?.status, await used(workspaceId)]).toEqual(["processing", 0]);
  await changeWorkspace(db, workspaceId, { is_suspended: false }, { clock: systemClock, plans });
  await attemptToEnd(workspaceId, id);
  expect([(await ended(workspaceId, id)).job?.status, await used(workspaceId)]).toEqual(["completed", 20]);
});

describe("the hourly cap", () => {
  it("pauses a job until the next hour, and no server is asked about more than it covers", async () => {
    const workspaceId = await newWorkspace();
    const clock = stubClock();
    await changeWorkspace(db, workspaceId, { hourly_cap: 50 }, { clock, plans });
    const { prober, questions } = proberThat(() => ({}));
    const checker = createAddressChecker({
      clock,
      resolver: dns.resolver,
      lists: createAddressLists(dataDir, []),
      allowPrivateMx: true,
      prober,
    });
    const handler = bulkHandler({ db, clock, plans, checker, pauses: { retryPauseMs: 0 } });
    const id = await start(workspaceId, `${lines(120)}\nnobody\n`);
    for (const [turn, answered] of [51, 101].entries()) {
      await attempt(workspaceId, id, handler);
      expect(await findJob(db, workspaceId, id)).toMatchObject({ status: "processing", succeeded: answered });
      expect(questions.flatMap(({ localparts }) => localparts)).toHaveLength(50 * (turn + 1));
      const due = await db.row<{ seconds: number }>(sql`
        select extract(epoch from due_at - now())::float8 as seconds from jobs where id = ${id}`);
      const left = 3_600 - ((clock.now().getTime() / 1_000) % 3_600);
      expect(Math.abs((due?.seconds ?? 0) - left)).toBeLessThan(10);
      clock.advance(3_600_000);
    }
    await attempt(workspaceId, id, handler);
    const { job, rows, rest } = await ended(workspaceId, id);
    expect(job).toMatchObject({ status: "completed", result: { not_validated: 0, stopped_by: null } });
    expect([rows.length, rest.length]).toEqual([121, 0]);
    expect(await historyOf(workspaceId)).toHaveLength(121);
  });
});

describe("open validations of a workspace", () => {
  /** The state of jobs that have run and were put back. */
  const putBack = (workspaceId: WorkspaceId, count: number) =>
    db.run(sql`
      insert into jobs (workspace_id, id, type, permission, input, status)
      select ${workspaceId}, gen_random_uuid(), ${BULK_JOB}, 'validations:read', '{}', 'processing'
      from generate_series(1, ${count})`);

  async function upload(workspaceId: WorkspaceId) {
    const path = join(dataDir, newId());
    const text = "ada@good.test\nbea@good.test\n";
    await writeFile(path, text);
    const deps = { db, clock: systemClock, plans };
    const actor = { kind: "key", id: newId(), name: "Test" } as const;
    const file = { path, name: "addresses.csv", bytes: text.length };
    return startBulkValidation(deps, workspaceId, file, undefined, { actor });
  }

  it("are at most 50, including those that were put back, even when many start at once", async () => {
    const workspaceId = await newWorkspace();
    await putBack(workspaceId, 49);
    const all = await Promise.allSettled(Array.from({ length: 5 }, () => upload(workspaceId)));
    const refused = all.filter((one) => one.status === "rejected");
    expect(refused.map(({ reason }) => reason.code)).toEqual(Array(4).fill("CONFLICT"));
    expect((await upload(await newWorkspace())).status).toBe("pending");
  });

  it("may be of a file that is larger than the hourly cap", async () => {
    const workspaceId = await newWorkspace();
    await changeWorkspace(db, workspaceId, { hourly_cap: 1 }, { clock: systemClock, plans });
    expect((await upload(workspaceId)).status).toBe("pending");
  });
});
