import { tmpdir } from "node:os";
import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import { readConfig } from "#platform/config/config.ts";
import { newId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { saveRunningProcess } from "#platform/process/running-processes-store.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import { version } from "#platform/version.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { draft } from "#test/support/drafts.ts";
import { outcomeOf } from "#test/support/outcomes.ts";
import { SECRET_KEY, startService } from "#test/support/service.ts";
import { CounterTally, type CountIncrement } from "./counters.ts";
import { createProcessMetrics } from "./metrics.ts";
import { createReactions } from "./reactions.ts";

const { database: db, clock, workspaceId } = await startService();
const metrics = createProcessMetrics({
  config: readConfig({ DATA_DIR: tmpdir() }),
  log: createLog("silent"),
  clock,
  database: db,
  requests: db,
  secrets: createSecrets(SECRET_KEY),
});

/** The values of series such as `posthaste_jobs{state="waiting"}`; undefined for one that is missing. */
async function valuesOf(...series: readonly string[]): Promise<(number | undefined)[]> {
  const { text } = await metrics.scrape();
  const values = new Map(
    text.split("\n").map((line) => {
      const at = line.lastIndexOf(" ");
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
  return series.map((name) => values.get(name));
}

test("bounces by type and complaints are counted, each once, also when a bounce is reclassified", async () => {
  const tally = new CounterTally();
  const onMoved = createReactions(clock, tally.add);
  const tell = async (
    messageId: string,
    status: "bounced" | "delivered" | "complained",
    isAddressFault = false,
  ) => {
    const outcome = outcomeOf({ workspaceId, messageId }, status, { isAddressFault, time: clock.now() });
    await db.transaction((tx) => recordOutcomes(tx, [outcome], onMoved));
  };
  const accepted = ["ann", "bob", "eve"].map((who) => draft(workspaceId, `${who}@counted.test`));
  await insertDrafts(db, accepted);
  const [ann = "", bob = "", eve = ""] = accepted.map(({ message }) => message.id);
  await tell(ann, "bounced");
  await tell(ann, "bounced", true);
  await tell(bob, "bounced", true);
  await tell(eve, "delivered");
  await tell(eve, "complained");
  await tell(eve, "complained");
  for (const counted of tally.take()) metrics.count(counted);
  expect(tally.take()).toEqual([]);
  const series = [
    'posthaste_bounces_total{type="soft"}',
    'posthaste_bounces_total{type="hard"}',
    "posthaste_complaints_total",
  ];
  expect(await valuesOf(...series)).toEqual([1, 1, 1]);
});

test("what a delivery process counts arrives summed, and apart for each value of the labels", () => {
  const tally = new CounterTally();
  const attempt = (provider: string, result: string): CountIncrement => ({
    name: "posthaste_provider_attempts_total",
    labels: { provider, result },
  });
  for (const result of ["deferred", "delivered", "deferred"]) tally.add(attempt("google", result));
  tally.add(attempt("yahoo", "deferred"));
  expect(tally.take()).toEqual([
    { ...attempt("google", "deferred"), amount: 2 },
    { ...attempt("google", "delivered"), amount: 1 },
    { ...attempt("yahoo", "deferred"), amount: 1 },
  ]);
});

test("jobs, recurring tasks and webhooks that wait are counted, with the time since the first was due", async () => {
  const job = newId();
  const [webhook, off] = [newId(), newId()];
  await db.run(sql`
    insert into jobs (workspace_id, id, type, permission) values (${workspaceId}, ${job}, 'import', 'subscribers:write')`);
  await db.run(sql`
    insert into job_turns (workspace_id, type, due_at) values (${workspaceId}, 'import', now() - interval '5 minutes')`);
  await db.run(sql`
    insert into webhooks (workspace_id, id, url, events, is_active, secret, created_at, updated_at)
    select ${workspaceId}, id, 'https://hooks.test', '{*}', id = ${webhook}, '', now(), now()
    from unnest(${[webhook, off]}::uuid[]) as w (id)`);
  for (const [id, minutes] of [
    [webhook, 2],
    [webhook, -2],
    [off, 60],
  ] as const) {
    await db.run(sql`
      insert into webhook_deliveries (workspace_id, webhook_id, id, type, body, next_attempt_at, created_at)
      values (${workspaceId}, ${id}, ${newId()}, 'message.delivered', '{}',
        ${clock.now()}::timestamptz - make_interval(mins => ${minutes}), now())`);
  }
  await db.run(sql`
    select graphile_worker.add_job('every:test', '{}'::json, run_at := now() - interval '3 minutes')`);
  const [waiting, running, oldest, deliveries, late, tasks] = await valuesOf(
    'posthaste_jobs{state="waiting"}',
    'posthaste_jobs{state="running"}',
    "posthaste_jobs_oldest_waiting_seconds",
    "posthaste_webhook_waiting_deliveries",
    "posthaste_webhook_oldest_due_seconds",
    "posthaste_recurring_oldest_due_seconds",
  );
  expect([waiting, running, deliveries]).toEqual([1, 0, 3]);
  expect([oldest, late, tasks].map((seconds = 0) => Math.floor(seconds / 60))).toEqual([5, 2, 3]);
});

test("the paused lanes of all delivery processes are counted by provider, and no others", async () => {
  const process = {
    host: "mail1",
    pid: 1,
    roles: ["delivery"],
    version,
    node_version: "24",
    key_fingerprints: null,
  };
  const save = (id: string, paused_lanes: Record<string, number>) =>
    saveRunningProcess(db, { ...process, id }, { waits: [], paused_lanes });
  await save(newId(), { google: 30, left_out: 1 });
  await save(newId(), { google: 1 });
  await save(newId(), {});
  const gone = newId();
  await save(gone, { yahoo: 1 });
  await db.run(sql`update running_processes set seen_at = now() - interval '1 minute' where id = ${gone}`);
  const series = ["google", "yahoo", "default"].map(
    (name) => `posthaste_provider_paused_lanes{provider="${name}"}`,
  );
  expect(await valuesOf(...series, 'posthaste_processes{role="delivery"}')).toEqual([31, 0, 0, 3]);
});

test("version, sizes and the late messages of each priority are always there", async () => {
  await db.run(sql`truncate delivery_queue`);
  const [build, size, free, transactional, bulk] = await valuesOf(
    `posthaste_build_info{version="${version}"}`,
    "posthaste_database_size_bytes",
    "posthaste_data_dir_free_bytes",
    'posthaste_delivery_oldest_due_seconds{priority="transactional"}',
    'posthaste_delivery_oldest_due_seconds{priority="bulk"}',
  );
  expect([build, transactional, bulk]).toEqual([1, 0, 0]);
  expect(Math.min(size ?? 0, free ?? 0)).toBeGreaterThan(1_000_000);
});
