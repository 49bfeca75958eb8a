import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { systemClock } from "#platform/clock.ts";
import { createLog } from "#platform/log/log.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { cleanUp } from "./remove-expired-data.ts";

const database = await testDatabase();
const workspaceId = await insertBareWorkspace(database);
const log = createLog("silent");

/** More than two of the statements that it is done in. */
const MANY = 10_001;

test("idempotency keys older than a day are deleted, however many there are, and others stay", async () => {
  const insert = (name: string, amount: number, age: string) =>
    database.run(sql`
      insert into idempotency_keys (workspace_id, path, key, token, request_hash, reserved_until, created_at)
      select ${workspaceId}, '/p', ${name} || n, gen_random_uuid(), ''::bytea, now(), now() - ${age}::interval
      from generate_series(1, ${amount}::int) n`);
  await insert("old", MANY, "24 hours 1 second");
  await insert("young", 2, "23 hours 59 minutes");
  const [keys] = cleanUp(database, systemClock);
  await keys?.run({ signal: new AbortController().signal, log });
  expect(await database.rows(sql`select key from idempotency_keys order by key`)).toEqual([
    { key: "young1" },
    { key: "young2" },
  ]);
});

test("expired jobs are deleted, however many there are, and others stay", async () => {
  const insert = (type: string, amount: number, expires: string | null) =>
    database.run(sql`
      insert into jobs (workspace_id, id, type, permission, expires_at)
      select ${workspaceId}, gen_random_uuid(), ${type}, 'things:read', now() + ${expires}::interval
      from generate_series(1, ${amount}::int)`);
  await insert("expired", MANY, "-61 minutes");
  await insert("just expired", 1, "-59 minutes");
  await insert("ended", 1, "1 hour");
  await insert("running", 1, null);
  const [, jobs] = cleanUp(database, systemClock);
  await jobs?.run({ signal: new AbortController().signal, log });
  expect(await database.rows(sql`select type from jobs order by type`)).toEqual([
    { type: "ended" },
    { type: "just expired" },
    { type: "running" },
  ]);
});

test("a stopping process begins no further batch", async () => {
  const tasks = cleanUp(database, systemClock);
  for (const task of tasks) {
    await database.run(sql`
      insert into jobs (workspace_id, id, type, permission, expires_at)
      values (${workspaceId}, gen_random_uuid(), 'late', 'things:read', now() - interval '2 hours')`);
    await task.run({ signal: AbortSignal.abort(), log });
  }
  expect(await database.rows(sql`select from jobs where type = 'late'`)).toHaveLength(tasks.length);
});
