import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import sql from "sql-template-tag";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { testDatabase } from "#test/support/database.ts";
import { startDatabasePair } from "#test/support/database-pair.ts";
import { openDatabaseProxy } from "#test/support/database-proxy.ts";
import { eventually } from "#test/support/eventually.ts";
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
  const reads = new ReplicaReads(url, primary, {
    size: 1,
    name: "replica",
    onError: () => {},
    settings: { search_path: searchPath },
  });
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

test("slow reports that take every connection do not hide how old the replica is", async () => {
  const reads = openReads();
  const slow = await primary.connect();
  await slow.query("select pg_advisory_lock(7)");
  const waiting = reads.row<{ name: string }>(
    sql`select current_setting('application_name') as name, pg_advisory_lock(7)`,
  );
  const lookedAt = async () => {
    const row = await primary.row<{ at: Date | null }>(sql`
      select max(query_start) as at from pg_stat_activity
      where datname = current_database() and query like '%pg_last_xact_replay_timestamp()%'
        and application_name = 'replica'`);
    return row?.at?.getTime() ?? 0;
  };
  const before = await eventually("the first look", async () => (await lookedAt()) || undefined);
  await eventually("a look while all connections are taken", async () => (await lookedAt()) > before);
  await slow.query("select pg_advisory_unlock(7)");
  slow.release();
  expect(await waiting).toMatchObject({ name: "replica" });
  expect(await sessionOf(reads)).toBe("replica");
});

test("while a replica does not answer at all, only the first report waits for it", async () => {
  let connections = 0;
  const silent = createServer(() => (connections += 1)).listen(0, "127.0.0.1");
  await once(silent, "listening");
  onTestFinished(() => void silent.close());
  const reads = openReads(`postgres://a@127.0.0.1:${(silent.address() as AddressInfo).port}/a`);
  const timeOfRead = async () => {
    const from = performance.now();
    expect(await sessionOf(reads)).toBe("test");
    return performance.now() - from;
  };
  const first = await timeOfRead();
  let longest = 0;
  await eventually("the next look", async () => {
    longest = Math.max(longest, await timeOfRead());
    return connections === 2;
  });
  expect(longest).toBeLessThan(first / 2);
});

describe.runIf(process.platform === "linux")("a real standby", () => {
  test("that freezes loses its statements to the primary, and is read again when it goes on", async () => {
    await using pair = await startDatabasePair();
    const options = { size: 2, name: "reports", onError: () => {} };
    const writer = createDatabase(pair.primary.url, options);
    const reads = new ReplicaReads(pair.standby.url, writer, options);
    onTestFinished(async () => {
      await Promise.all([reads.close(), writer.close()]);
    });
    const isStandby = async (seconds = 0) => {
      await writer.run(sql`select pg_logical_emit_message(true, 'a', 'commit')`);
      const row = await reads.row<{ answer: boolean }>(sql`
        select pg_is_in_recovery() as answer, case when pg_is_in_recovery() then pg_sleep(${seconds}) end`);
      return row?.answer;
    };
    await eventually("the standby to be read", isStandby);
    const inFlight = isStandby(3_600);
    await eventually("its statement to run", async () => {
      const [row] = await pair.standby.ask(
        "select from pg_stat_activity where application_name = 'reports' and wait_event = 'PgSleep'",
      );
      return row !== undefined;
    });
    await pair.primary.ask("alter system set synchronous_standby_names = ''", "select pg_reload_conf()");
    await pair.standby.signal("SIGSTOP");
    expect(await inFlight).toBe(false);
    expect(await isStandby()).toBe(false);
    await pair.standby.signal("SIGCONT");
    await eventually("the standby to be read again", isStandby);
  });
});
