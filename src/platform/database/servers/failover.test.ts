/** Two real servers, a primary and a standby, and what the database of a process does when they change places. */
import sql from "sql-template-tag";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase, type Database } from "#platform/database/pool.ts";
import { findReplicaLag, findReplication } from "#platform/database/replication-store.ts";
import { asFailure } from "#platform/http/response/envelope.ts";
import { type DatabasePair, startDatabasePair } from "#test/support/database-pair.ts";
import {
  DATABASE,
  type DatabaseServer,
  loopback,
  ServerFolder,
  USER,
} from "#test/support/database-server.ts";
import { eventually } from "#test/support/eventually.ts";
import { DatabaseServers } from "./database-servers.ts";
import { NoRoomError } from "./server-faults.ts";

let pair: DatabasePair;
let databases: Database[] = [];

/** Tests on one pair of servers, one after another. */
function onPair(what: string, tests: () => void): void {
  describe.runIf(process.platform === "linux")(what, () => {
    beforeAll(async () => {
      databases = [];
      pair = await startDatabasePair();
      await open().run(sql`create table letters (word text)`);
    });
    afterAll(async () => {
      await Promise.all(databases.map((database) => database.close()));
      await pair[Symbol.asyncDispose]();
    });
    tests();
  });
}

function open(url = pair.url): Database {
  const database = createDatabase(url, {
    size: 2,
    name: "failover test",
    onError: () => {},
    deadlines: { answerMs: 1_000 },
  });
  databases.push(database);
  return database;
}

const serverOf = async (database: Database) => {
  const row = await database.row<{ address: string }>(sql`select host(inet_server_addr()) as address`);
  return row?.address;
};
const write = (database: Database) => database.run(sql`insert into letters values ('x')`);
const fault = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (thrown: unknown) => thrown,
  );

onPair("a primary that becomes read-only", () => {
  test("the primary names its standbys, without a privilege as well, and a standby says how old its data is", async () => {
    const replication = await findReplication(open());
    expect(replication).toMatchObject({
      address: pair.primary.name,
      is_primary: true,
      synchronous_standby_names: "s1",
      standbys: [{ name: "s1", state: "streaming", sync_state: "sync" }],
    });
    await pair.primary.ask("create role unprivileged login");
    const url = new URL(pair.primary.url);
    url.username = "unprivileged";
    expect((await findReplication(open(url.href)))?.standbys).toEqual([
      { name: "s1", state: null, sync_state: null, lag_seconds: null },
    ]);
    const standby = open(pair.standby.url);
    expect(await findReplication(standby)).toMatchObject({ is_primary: false, standbys: [] });
    await pair.standby.ask("select pg_wal_replay_pause()");
    await eventually("the age to grow", async () => ((await findReplicaLag(standby)) ?? 0) > 1);
    await pair.standby.ask("select pg_wal_replay_resume()");
    await eventually("it to catch up", async () => {
      await open().run(sql`select pg_logical_emit_message(true, 'a', 'commit')`);
      return ((await findReplicaLag(standby)) ?? 9) < 1;
    });
  });

  test("a URL with one server leaves its connections there when the server becomes read-only", async () => {
    const database = open(pair.primary.url);
    const session = await database.openSession();
    const ended = new Promise((resolve) => session.once("end", resolve));
    await pair.primary.ask("alter system set default_transaction_read_only = on", "select pg_reload_conf()");
    await eventually("a refused write", async () => (await fault(write(database))) !== null);
    await ended;
    // Without target_session_attrs a standby may be read, which a backup does.
    expect(await serverOf(open(pair.standby.url))).toBe(pair.standby.address);
    const refused = await fault(serverOf(open(`${pair.standby.url}?target_session_attrs=read-write`)));
    expect(refused).toMatchObject({ message: `${pair.standby.name} is a standby or read-only` });
    await pair.primary.ask("alter system reset default_transaction_read_only", "select pg_reload_conf()");
  });

  test("every pool leaves a server that becomes read-only, at the first refused write", async () => {
    const database = open();
    const other = open();
    expect(await serverOf(other)).toBe(pair.primary.address);
    const session = await other.openSession();
    const ended = new Promise((resolve) => session.once("end", resolve));

    await pair.primary.ask(
      "alter system set default_transaction_read_only = on",
      "select pg_reload_conf()",
      "select pg_sleep(0.1)",
    );
    expect(asFailure(await fault(write(database)))).toMatchObject({ status: 503 });
    await ended;
    const refused = await fault(write(database));
    expect(asFailure(refused)).toMatchObject({ status: 503 });
    for (const { name } of [pair.primary, pair.standby])
      expect((refused as Error).message).toContain(`${name} is a standby or read-only`);

    await pair.standby.promote();
    await eventually("a write to the new primary", () => write(database).catch(() => undefined));
    expect(await serverOf(other)).toBe(pair.standby.address);
  });
});

onPair("a primary that freezes", () => {
  test("the primary is found, and a frozen one is left for the promoted standby", async () => {
    const database = open();
    expect(await serverOf(database)).toBe(pair.primary.address);
    const session = await database.openSession();
    const ended = new Promise((resolve) => session.once("end", resolve));
    expect(session.host).toBe(pair.primary.address);

    await pair.primary.signal("SIGSTOP");
    expect(asFailure(await fault(write(database)))).toMatchObject({ status: 503 });
    await pair.standby.promote();
    await eventually("a write to the new primary", () => write(database).catch(() => undefined));
    expect(await serverOf(database)).toBe(pair.standby.address);
    // Nothing was asked in this session, so only the other connections can tell that its server is gone.
    await ended;

    // The former primary is back and can be written to. Nothing follows it, nor does a process that starts now.
    await pair.primary.signal("SIGCONT");
    await eventually("the former primary to answer", () => pair.primary.ask("select").catch(() => undefined));
    expect(await serverOf(database)).toBe(pair.standby.address);
    expect(await new DatabaseServers(pair.url).choose()).toMatchObject({ host: pair.standby.address });

    // A process that starts cannot tell which of both is the primary, if the newer one takes no more connections.
    await pair.standby.ask("create role limited login connection limit 0");
    await pair.primary.ask("set synchronous_commit = local", "create role limited login");
    const limited = new DatabaseServers(pair.url.replace(`${USER}@`, "limited@"));
    await expect(limited.choose()).rejects.toThrow(
      `${pair.standby.name} takes no more connections, ${pair.primary.name} may have been the primary before`,
    );

    // Not even while it alone can be reached.
    await pair.standby.stop();
    await eventually("the former primary to be refused", async () => {
      const thrown = await fault(write(database));
      return (
        thrown instanceof Error && thrown.message.includes(`${pair.primary.name} was the primary before`)
      );
    });
  });
});

onPair("a primary whose standby is away", () => {
  test("while writes wait, a process holds few connections, and it writes again with the standby", async () => {
    const database = open();
    const standing = await database.openSession();
    await pair.standby.signal("SIGSTOP");
    const thrown: unknown[] = [];
    while (!thrown.some((one) => one instanceof NoRoomError))
      thrown.push(...(await Promise.all([fault(write(database)), fault(write(database))])));
    for (const one of thrown) expect(asFailure(one)).toMatchObject({ status: 503 });
    for (let more = 0; more < 20; more++) await fault(write(database));
    expect(await connectionsOf(pair.primary)).toBeLessThanOrEqual(12);
    await pair.standby.signal("SIGCONT");
    await eventually("a write", () => write(database).catch(() => undefined));
    await standing.end();
    await eventually("the connections to end", async () => (await connectionsOf(pair.primary)) <= 2);
  });
});

describe.runIf(process.platform === "linux")("a server of another database system", () => {
  test("is not followed while the primary is away, and a process that starts with both names the fault", async () => {
    await using folder = await ServerFolder.make();
    const own = await folder.start("own", loopback());
    const other = await folder.start("other", loopback());
    const url = `postgres://${USER}@${own.name},${other.name}/${DATABASE}`;
    await expect(new DatabaseServers(url).choose()).rejects.toThrow(
      `${other.name} is of another database system than the others of DATABASE_URL`,
    );
    await other.stop();
    const database = open(url);
    expect(await serverOf(database)).toBe(own.address);
    await other.start();
    await own.stop();
    await eventually("the other server to be refused", async () => {
      const thrown = await fault(serverOf(database));
      return (
        thrown instanceof Error &&
        thrown.message.includes(`${other.name} is not of the database system that this process works with`)
      );
    });
    await own.start();
    await eventually("the own server", () => serverOf(database).catch(() => undefined));
    expect(await serverOf(database)).toBe(own.address);
    await database.close();
  });
});

onPair("a primary that is replaced", () => {
  test("a process without a failed statement follows the promoted standby as well", async () => {
    const database = open();
    const session = await database.openSession();
    const ended = new Promise((resolve) => session.once("end", resolve));
    await pair.standby.promote();
    await ended;
    expect(await serverOf(database)).toBe(pair.standby.address);
  });

  test("while there is no primary, connections fail without one search for each", async () => {
    const database = open();
    expect(await serverOf(database)).toBe(pair.standby.address);
    const withoutConnections = new DatabaseServers(pair.url);
    const connection = { server: await withoutConnections.choose(), abandon: () => {} };
    withoutConnections.opened(connection);
    withoutConnections.closed(connection);
    await pair.primary.stop();
    await pair.standby.ask("alter system set default_transaction_read_only = on", "select pg_reload_conf()");
    await eventually("a refused write", async () => (await fault(write(database))) !== null);
    // Nothing has told this process: it asks again, because no connection of it is open.
    await expect(withoutConnections.choose()).rejects.toThrow("no database server can be written to");
    const sessionsBefore = await sessionsOf(pair.standby);
    const faults = await Promise.all(Array.from({ length: 200 }, () => fault(write(database))));
    for (const thrown of faults) expect(asFailure(thrown)).toMatchObject({ status: 503 });
    expect((await sessionsOf(pair.standby)) - sessionsBefore).toBeLessThan(20);
  });
});

/** Connections of the databases of these tests, also those that wait for a standby. */
async function connectionsOf(server: DatabaseServer): Promise<number> {
  const [row] = await server.ask(
    "select count(*)::int as count from pg_stat_activity where application_name = 'failover test'",
  );
  return Number(row?.count);
}

/** All sessions with the server since its start. */
async function sessionsOf(server: DatabaseServer): Promise<number> {
  const [row] = await server.ask(
    "select pg_stat_force_next_flush()",
    "select sum(sessions)::int as sessions from pg_stat_database",
  );
  return Number(row?.sessions);
}
