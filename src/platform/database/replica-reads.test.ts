import sql from "sql-template-tag";
import { afterAll, expect, test } from "vitest";
import { testDatabase } from "#test/support/database.ts";
import { openDatabaseProxy } from "#test/support/database-proxy.ts";
import { createDatabase } from "./pool.ts";
import { ReplicaReads } from "./replica-reads.ts";

const primary = await testDatabase();

/** In sessions of the replica the server says that it is a standby. */
await primary.run(sql`create schema standby`);
await primary.run(sql`
  create function standby.pg_is_in_recovery() returns boolean language sql as 'select true'`);
await primary.run(sql`
  create function standby.pg_last_xact_replay_timestamp() returns timestamptz language sql
  as 'select clock_timestamp()'`);

/** `url` leads to the primary again: only the name of its sessions is another, and what the server says of itself. */
function openReads(url = primary.url, searchPath = "standby,pg_catalog,public"): ReplicaReads {
  const replica = createDatabase(url, {
    size: 1,
    name: "replica",
    onError: () => {},
    settings: { search_path: searchPath },
    deadlines: { answerMs: 500 },
  });
  const reads = new ReplicaReads(replica, primary);
  afterAll(() => reads.close());
  return reads;
}

const sessionOf = async (reads: ReplicaReads) =>
  (await reads.row<{ name: string }>(sql`select current_setting('application_name') as name`))?.name;

test("reads come from the replica, and writes go to the primary", async () => {
  const reads = openReads();
  expect(await sessionOf(reads)).toBe("replica");
  await reads.run(sql`create table read_notes as select current_setting('application_name') as name`);
  expect(await reads.rows(sql`select name from read_notes`)).not.toEqual([{ name: "replica" }]);
});

test("a replica that is away, or goes away, is replaced by the primary", async () => {
  expect(await sessionOf(openReads("postgres://nobody@127.0.0.1:9/none"))).not.toBe("replica");
  const way = await openDatabaseProxy(primary.url);
  const reads = openReads(way.url);
  expect(await sessionOf(reads)).toBe("replica");
  way.lost = "everything";
  const silent = openReads(way.url);
  expect(await sessionOf(silent)).not.toBe("replica");
});

test("a server that is no standby is not read: it may be a former primary with old data", async () => {
  expect(await sessionOf(openReads(primary.url, "public"))).not.toBe("replica");
});

test("a statement that the replica cancels or cannot read is asked of the primary", async () => {
  const reads = openReads();
  expect(await sessionOf(reads)).toBe("replica");
  // As a conflict with the recovery does (SQLSTATE 40001), but only in sessions of the replica.
  await primary.run(sql`
    create function read_or_cancel() returns text language plpgsql as $$
    begin
      if current_setting('application_name') = 'replica' then
        raise exception 'canceling statement due to conflict with recovery' using errcode = '40001';
      end if;
      return 'read';
    end $$`);
  expect(await reads.row(sql`select read_or_cancel() as word`)).toEqual({ word: "read" });
});

test("a fault of the statement itself is the caller's", async () => {
  await expect(openReads().row(sql`select 1 / 0`)).rejects.toMatchObject({ code: "22012" });
});
