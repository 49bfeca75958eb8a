/** Two real servers, a primary and a standby, and what the database of a process does when they change places. */
import sql from "sql-template-tag";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createDatabase, type Database } from "#platform/database/pool.ts";
import { asFailure } from "#platform/http/response/envelope.ts";
import { type DatabasePair, type PairedServer, startDatabasePair } from "#test/support/database-pair.ts";
import { eventually } from "#test/support/eventually.ts";
import { DatabaseServers } from "./database-servers.ts";

let pair: DatabasePair;
let databases: Database[];
beforeEach(async () => {
  databases = [];
  pair = await startDatabasePair();
});
afterEach(async () => {
  await Promise.all(databases.map((database) => database.close()));
  await pair[Symbol.asyncDispose]();
});

const onLinux = test.runIf(process.platform === "linux");

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
  const row = await database.row<{ port: number }>(sql`select inet_server_port() as port`);
  return row?.port;
};
const write = (database: Database) => database.run(sql`insert into letters values ('x')`);
const fault = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (thrown: unknown) => thrown,
  );

onLinux("the primary is found, and a frozen one is left for the promoted standby", async () => {
  const database = open();
  await database.run(sql`create table letters (word text)`);
  expect(await serverOf(database)).toBe(pair.primary.port);
  const session = await database.openSession();
  const ended = new Promise((resolve) => session.once("end", resolve));
  expect(session.port).toBe(pair.primary.port);

  await pair.primary.signal("SIGSTOP");
  expect(asFailure(await fault(write(database)))).toMatchObject({ status: 503 });
  await pair.standby.promote();
  await eventually("a write to the new primary", () => write(database).catch(() => undefined));
  expect(await serverOf(database)).toBe(pair.standby.port);
  // Nothing was asked in this session, so only the other connections can tell that its server is gone.
  await ended;

  // The former primary is back and can be written to. Nothing follows it, nor does a process that starts now.
  await pair.primary.signal("SIGCONT");
  await eventually("the former primary to answer", () => pair.primary.ask("select").catch(() => undefined));
  expect(await serverOf(database)).toBe(pair.standby.port);
  expect(await new DatabaseServers(pair.url).choose()).toMatchObject({ port: pair.standby.port });
});

onLinux("a process without a failed statement follows the promoted standby as well", async () => {
  const database = open();
  const session = await database.openSession();
  const ended = new Promise((resolve) => session.once("end", resolve));
  await pair.standby.promote();
  await ended;
  expect(await serverOf(database)).toBe(pair.standby.port);
});

onLinux("every pool leaves a server that becomes read-only, at the first refused write", async () => {
  const database = open();
  const other = open();
  await database.run(sql`create table letters (word text)`);
  expect(await serverOf(other)).toBe(pair.primary.port);
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
  expect(await serverOf(other)).toBe(pair.standby.port);
});

onLinux("a URL with one server leaves its connections there when the server becomes read-only", async () => {
  const database = open(pair.primary.url);
  await database.run(sql`create table letters (word text)`);
  const session = await database.openSession();
  const ended = new Promise((resolve) => session.once("end", resolve));
  await pair.primary.ask("alter system set default_transaction_read_only = on", "select pg_reload_conf()");
  await eventually("a refused write", async () => (await fault(write(database))) !== null);
  await ended;
  // Without target_session_attrs a standby may be read, which a backup does.
  expect(await serverOf(open(pair.standby.url))).toBe(pair.standby.port);
  const refused = await fault(serverOf(open(`${pair.standby.url}?target_session_attrs=read-write`)));
  expect(refused).toMatchObject({ message: `${pair.standby.name} is a standby or read-only` });
});

onLinux("while there is no primary, connections fail without one search for each", async () => {
  const database = open();
  expect(await serverOf(database)).toBe(pair.primary.port);
  await pair.primary.stop();
  const sessionsBefore = await sessionsOf(pair.standby);
  const faults = await Promise.all(Array.from({ length: 200 }, () => fault(serverOf(database))));
  for (const thrown of faults) expect(asFailure(thrown)).toMatchObject({ status: 503 });
  expect((await sessionsOf(pair.standby)) - sessionsBefore).toBeLessThan(20);
});

/** All sessions with the server since its start. */
async function sessionsOf(server: PairedServer): Promise<number> {
  const [row] = await server.ask(
    "select pg_stat_force_next_flush()",
    "select sum(sessions)::int as sessions from pg_stat_database",
  );
  return Number(row?.sessions);
}
