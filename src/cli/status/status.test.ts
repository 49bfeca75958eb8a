import sql from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import { runCli } from "#cli/program.ts";
import { reported, type WaitingLane } from "#delivery/message/lane-wait.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { saveRunningProcess } from "#platform/process/running-processes-store.ts";
import { version } from "#platform/version.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { draft, nobodyElse } from "#test/support/drafts.ts";
import { outcomeOf } from "#test/support/outcomes.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { database: db, workspaceId } = service;
beforeEach(() => db.run(sql`truncate delivery_queue, running_processes`));

async function run(line: string) {
  const written = { stdout: "", stderr: "" };
  const output = (name: "stdout" | "stderr") => ({
    write(text: string) {
      written[name] += text;
    },
  });
  const code = await runCli(line.split(" "), {
    stdout: output("stdout"),
    stderr: output("stderr"),
    environment: { DATABASE_URL: db.url, DATA_DIR: "." },
    endpoints: () => service.api.endpoints,
    serve: async () => {},
  });
  return { code, ...written };
}
const status = async () => JSON.parse((await run("status --json")).stdout);

/** Accepts messages, and makes them due in some seconds. */
async function accept(
  to: string,
  seconds: number,
  of: WorkspaceId = workspaceId,
  count = 1,
): Promise<string[]> {
  const drafts = Array.from({ length: count }, (_, at) => draft(of, `user${at}@${to}`));
  await insertDrafts(db, drafts);
  const ids = drafts.map(({ message }) => message.id);
  await db.run(sql`
    update delivery_queue set due_at = now() + make_interval(secs => ${seconds}) where message_id = any (${ids}::uuid[])`);
  return ids;
}

const delivering = {
  id: newId(),
  host: "mail1",
  pid: 7,
  roles: ["delivery"],
  version,
  node_version: "24",
  key_fingerprints: null,
};
const saveWaits = (waits: readonly WaitingLane[], process = delivering) =>
  saveRunningProcess(db, process, { waits, paused_lanes: {} });
const lane = (change: Partial<WaitingLane>): WaitingLane => ({
  provider: "google",
  place: "",
  reason: "limits",
  messages: 0,
  seconds: null,
  detail: null,
  ...change,
});

test("an idle installation says that nothing waits and that no process runs", async () => {
  const { code, stdout, stderr } = await run("status");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^Posthaste \S+, Node\.js \S+, PostgreSQL \S+, schema up to date\n/);
  expect(stdout).toMatch(
    /Queue +0 waiting, 0 in delivery\n +transactional mail on time, bulk mail on time\n/,
  );
  expect(stdout).toMatch(/Database +primary.*; no standby\n/);
  expect(stdout).toContain("No process of the service runs.");
});

test("messages are counted by why they wait, with the last reply of the deferred ones", async () => {
  await accept("due.test", -300);
  await accept("later.test", 600, workspaceId, 2);
  const [deferred = ""] = await accept("deferred.test", 600);
  await db.run(sql`update delivery_queue set attempts = 1 where message_id = ${deferred}`);
  const outcome = outcomeOf({ workspaceId, messageId: deferred }, "deferred", { detail: "450 4.2.1 later" });
  await db.transaction((tx) => recordOutcomes(tx, [outcome], nobodyElse));
  const other = await service.newWorkspace();
  await db.run(
    sql`update workspaces set name = 'Late payer', is_suspended = true where id = ${other.workspaceId}`,
  );
  await accept("due.test", -900, other.workspaceId, 3);
  const { queue } = (await status()).installation;
  expect(queue).toMatchObject({
    waiting: 7,
    sample: { messages: 7, reasons: { due: 1, due_later: 2, deferred: 1, workspace_suspended: 3 } },
  });
  expect(queue.sample.groups).toMatchObject([
    { reason: "workspace_suspended", place: "Late payer", messages: 3, reply: null },
    { reason: "lane", place: "later.test", messages: 2, reply: null },
    { reason: "deferred", place: "deferred.test", messages: 1, reply: "450 4.2.1 later" },
  ]);
  expect(Math.floor(queue.late_seconds.transactional / 60)).toBe(5);
  const { stdout } = await run("status");
  expect(stdout).toContain("transactional mail 5 min late, bulk mail on time");
  expect(stdout).toMatch(/1 +deferred\.test +deferred, next in 10 min: 450 4\.2\.1 later/);
});

test("lanes are shown with their reasons, those that are paused first", async () => {
  await saveWaits([
    lane({ provider: "yahoo", messages: 40 }),
    lane({ reason: "asked_to_wait", messages: 3, seconds: 50, detail: "421 4.7.28 rate limited" }),
    lane({
      provider: "default",
      place: "mx.small.test",
      reason: "unreachable",
      seconds: 90,
      detail: "refused",
    }),
  ]);
  const { lanes, processes } = (await status()).installation;
  expect(lanes.map(({ provider }: WaitingLane) => provider)).toEqual(["google", "default", "yahoo"]);
  expect(processes).toMatchObject([{ host: "mail1", roles: ["delivery"], version, is_running: true }]);
  const { stdout } = await run("status");
  expect(stdout).toMatch(/3 +google +asked to wait, 50 s more: 421 4\.7\.28 rate limited\n/);
  expect(stdout).toMatch(/0 +mx\.small\.test +not reachable, 90 s more: refused\n/);
  expect(stdout).toMatch(/mail1 +7 +delivery +\S+ +\d+ s ago +\d+ s ago\n/);
});

test("a reply with characters that PostgreSQL refuses in JSON is reported all the same", async () => {
  const [odd] = reported([
    lane({ reason: "asked_to_wait", place: "mx\u0000.test", detail: "421 \u0000 \ud800 later" }),
  ]);
  await saveWaits(odd === undefined ? [] : [odd]);
  expect((await status()).installation.lanes).toMatchObject([
    { place: "mx?.test", detail: "421 ? \ufffd later" },
  ]);
});

test("a full status fits on one screen of 80 columns, and control characters of receivers do not reach it", async () => {
  const lanes = Array.from({ length: 15 }, (_, at) =>
    lane({
      place: `mx${at}.${"long".repeat(20)}.test`,
      provider: "default",
      detail: `\u001b[2J${"reply ".repeat(40)}`,
    }),
  );
  await saveWaits(lanes);
  for (let at = 0; at < 15; at++)
    await saveWaits([], { ...delivering, id: newId(), host: `mail${at}.${"x".repeat(60)}` });
  for (let at = 0; at < 12; at++) await accept(`domain${at}.${"long".repeat(12)}.test`, 600);
  const { stdout } = await run("status");
  const lines = stdout.split("\n");
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(lines.length).toBeLessThanOrEqual(40);
  expect(stdout).not.toContain("\u001b");
});

test("while migrations are missing the versions are shown, and how to go on", async () => {
  const row = await db.row<{ name: string; digest: string }>(sql`
    delete from schema_migrations where name = (select max(name) from schema_migrations) returning name, digest`);
  const { versions, installation } = await status();
  expect([versions.missing_migrations, installation]).toEqual([[row?.name], null]);
  expect((await run("status")).stdout).toMatch(
    /1 migration missing\n\nRun `npm run -s posthaste -- migrate`/,
  );
  await db.run(sql`insert into schema_migrations (name, digest) values (${row?.name}, ${row?.digest})`);
});
