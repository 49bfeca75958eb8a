import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import sql from "sql-template-tag";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { newDatabase, testDatabase } from "#test/support/database.ts";
import { eventually } from "#test/support/eventually.ts";
import { migrate, requireUsableSchema } from "./migrate.ts";
import type { Release } from "./migration-files.ts";

const db = await testDatabase();

/** A release with these migrations behind those of the present one, which are in the database already. */
async function release(version: string, migrations: Readonly<Record<string, string>>): Promise<Release> {
  const folder = await mkdtemp(join(tmpdir(), "posthaste-migrations-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, statements] of Object.entries(migrations))
    await writeFile(join(folder, name), statements);
  return { version, migrations: pathToFileURL(`${folder}/`) };
}
const compatible = { "9001-color.sql": "alter table workspaces add column color text" };
const demanding = {
  ...compatible,
  "9002-no-color.sql": "-- Needs program 0.10.0\nalter table workspaces drop column color",
};

beforeEach(() => db.run(sql`delete from schema_migrations where name like '9%'`));
beforeEach(() => db.run(sql`alter table workspaces drop column if exists color`));

test("a database that is up to date is unchanged", async () => {
  const before = await db.rows(sql`select * from schema_migrations order by name`);
  expect(await migrate(db)).toEqual([]);
  expect(await db.rows(sql`select * from schema_migrations order by name`)).toEqual(before);
});

test("a migration that was applied with another content is refused with a sentence", async () => {
  await migrate(db, await release("0.9.0", compatible));
  const changed = await release("0.9.0", { "9001-color.sql": "select 1" });
  await expect(migrate(db, changed)).rejects.toThrow(
    /migration 9001-color.sql .*another content.*run that version/,
  );
});

test("a former release works with the schema of the next, unless a migration needs a newer program", async () => {
  const next = await release("0.10.0", demanding);
  const former = await release("0.9.0", {});
  await migrate(db, await release("0.10.0", compatible));
  expect(await migrate(db, former)).toEqual([]);
  expect(await migrate(db, next)).toEqual(["9002-no-color.sql"]);
  await expect(migrate(db, former)).rejects.toThrow(
    "the database has migration 9002-no-color.sql, which needs version 0.10.0 or newer, and this is 0.9.0: run the newer version",
  );
});

test("a migration that needs a newer program waits until older ones have stopped, and those before it are applied", async () => {
  for (const [host, pid, version] of [
    ["mail1", 7, "0.9.0"],
    ["mail2", 8, "0.10.0"],
  ] as const)
    await db.run(sql`
      insert into running_processes (id, host, pid, roles, version, node_version)
      values (gen_random_uuid(), ${host}, ${pid}, '{}', ${version}, '')`);
  const next = await release("0.10.0", demanding);
  await expect(migrate(db, next)).rejects.toThrow(
    /every machine to run version 0.10.0 or newer: stop mail1 \(process 7\) first/,
  );
  expect(await db.rows(sql`select name from schema_migrations where name like '9%'`)).toEqual([
    { name: "9001-color.sql" },
  ]);
  await db.run(sql`delete from running_processes where host = 'mail1'`);
  expect(await migrate(db, next)).toEqual(["9002-no-color.sql"]);
});

test("a migration sees a process that was admitted just before it, and one that comes after it is refused", async () => {
  const former = await release("0.9.0", {});
  const next = await release("0.10.0", demanding);
  const checked = Promise.withResolvers<void>();
  const admitted = Promise.withResolvers<void>();
  const starting = db.transaction(async (tx) => {
    await requireUsableSchema(tx, former);
    checked.resolve();
    await admitted.promise;
    await tx.run(sql`
      insert into running_processes (id, host, pid, roles, version, node_version)
      values (gen_random_uuid(), 'mail1', 7, '{}', '0.9.0', '')`);
  });
  await checked.promise;
  const migrating = migrate(db, next).catch(({ message }: Error) => message);
  await eventually("the migration to wait", async () =>
    db.row(sql`select from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`),
  );
  admitted.resolve();
  await starting;
  expect(await migrating).toMatch(/stop mail1 \(process 7\) first/);
  await db.run(sql`delete from running_processes where host = 'mail1'`);
  await migrate(db, next);
  await expect(db.transaction((tx) => requireUsableSchema(tx, former))).rejects.toThrow(
    "which needs version 0.10.0 or newer, and this is 0.9.0",
  );
});

test("a migration that waits for a table makes no other statement wait long, and is applied when it is free", async () => {
  const holder = await db.openSession();
  onTestFinished(() => holder.end());
  await holder.query("begin");
  await holder.query("select from workspaces");
  const migrating = migrate(db, await release("0.9.0", compatible));
  await eventually("the migration to wait", async () =>
    db.row(sql`select from pg_locks where mode = 'AccessExclusiveLock' and not granted`),
  );
  // Behind the migration, which gives up its place in the queue.
  await db.rows(sql`select from workspaces`);
  await holder.query("commit");
  expect(await migrating).toEqual(["9001-color.sql"]);
});

test("an index is built outside of a transaction, also after an interrupted attempt", async () => {
  const own = await newDatabase();
  onTestFinished(() => own[Symbol.asyncDispose]());
  await own.run(sql`create table notes (id int)`);
  await own.run(sql`insert into notes values (1), (1)`);
  await expect(own.run(sql`create unique index concurrently notes_by_id on notes (id)`)).rejects.toThrow(
    "unique",
  );
  const next = await release("0.9.0", {
    "9001-index.sql":
      "-- Not in a transaction\ncreate index concurrently if not exists notes_by_id on notes (id)",
  });
  expect(await migrate(own, next)).toEqual(["9001-index.sql"]);
  expect(
    await own.rows(sql`select indisvalid from pg_index where indexrelid = 'notes_by_id'::regclass`),
  ).toEqual([{ indisvalid: true }]);
  // As after a kill between the building and its record.
  await own.run(sql`delete from schema_migrations where name = '9001-index.sql'`);
  expect(await migrate(own, next)).toEqual(["9001-index.sql"]);
  const once = await release("0.9.0", {
    "9002-index.sql": "-- Not in a transaction\ncreate index concurrently notes_again on notes (id)",
  });
  await expect(migrate(own, once)).rejects.toThrow(/9002-index.sql must say "if not exists"/);
});
