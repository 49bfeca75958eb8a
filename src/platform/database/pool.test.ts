import { getEventListeners } from "node:events";
import sql, { raw } from "sql-template-tag";
import { afterAll, describe, expect, test } from "vitest";
import { testDatabase } from "#test/support/database.ts";
import { openDatabaseProxy } from "#test/support/database-proxy.ts";
import { eventually } from "#test/support/eventually.ts";
import { createDatabase, type Database, type Deadlines, listen, type Queryable } from "./pool.ts";

const db = await testDatabase();
await db.run(sql`create table letters (word text primary key)`);
const words = async () =>
  (await db.rows<{ word: string }>(sql`select word from letters order by word`)).map(({ word }) => word);

/** Closed when the file is done. */
function open(deadlines: Partial<Deadlines> = {}, url = db.url, name = "pool test"): Database {
  const database = createDatabase(url, { size: 1, name, onError: () => {}, deadlines });
  afterAll(() => database.close());
  return database;
}

test("a statement can be run again with its values", async () => {
  const statement = sql`select ${"ada"} as word`;
  const runs = [await db.row(statement), await db.row(statement)];
  expect(runs).toEqual([{ word: "ada" }, { word: "ada" }]);
});

test("limits of zero are none, also where the database has limits of its own", async () => {
  const name = (await db.row<{ name: string }>(sql`select current_database() as name`))?.name ?? "";
  for (const limit of ["statement_timeout", "idle_in_transaction_session_timeout"])
    await db.run(raw(`alter database ${name} set ${limit} = 1234`));
  const limits = (of: Database) =>
    of.row(sql`
      select current_setting('statement_timeout') as statement,
        current_setting('idle_in_transaction_session_timeout') as idle`);
  expect(await limits(open({ statementMs: 0, answerMs: 0, idleTransactionMs: 0 }))).toEqual({
    statement: "0",
    idle: "0",
  });
  for (const limit of ["statement_timeout", "idle_in_transaction_session_timeout"])
    await db.run(raw(`alter database ${name} reset ${limit}`));
});

test("a connection that the server ends while the pool closes is not an error", async () => {
  const faults: Error[] = [];
  const database = createDatabase(db.url, { size: 1, name: "pool", onError: (fault) => faults.push(fault) });
  const client = await database.connect();
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  const ended = new Promise((resolve) => client.once("end", resolve));
  const closed = database.close();
  await db.run(sql`select pg_terminate_backend(${rows[0]?.pid})`);
  await ended;
  client.release();
  await closed;
  expect(faults).toEqual([]);
});

describe("a transaction", () => {
  test("that throws is rolled back, and its connection is reused", async () => {
    const database = open();
    const failing = database.transaction(async (tx) => {
      await tx.run(sql`insert into letters values ('rolled back')`);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    await database.transaction((tx) => tx.run(sql`insert into letters values ('committed')`));
    expect(await words()).toEqual(["committed"]);
  });

  test("writes rows in bulk, in chunks as they arrive", async () => {
    const rows = ["b\nc\n", Buffer.from("a "), "b\n"];
    await db.run(sql`create table bulk (word text)`);
    await db.transaction((tx) => tx.copy("copy bulk from stdin", rows));
    expect(await db.rows(sql`select word from bulk`)).toEqual([
      { word: "b" },
      { word: "c" },
      { word: "a b" },
    ]);
  });

  test("whose COPY fails, on either side, is rolled back, and its connection is reused", async () => {
    const database = open();
    async function* broken() {
      yield "copied\n";
      throw new Error("source broke");
    }
    const copy = (rows: AsyncIterable<string> | string[]) =>
      database.transaction((tx) => tx.copy("copy letters from stdin", rows));
    await expect(copy(broken())).rejects.toThrow("source broke");
    await expect(copy(["twice\n", "twice\n"])).rejects.toMatchObject({ code: "23505" });
    await expect(copy(["too\tmany\n"])).rejects.toMatchObject({ code: "22P04" });
    await copy([]);
    expect(await database.rows(sql`select word from letters`)).toEqual([{ word: "committed" }]);
  });

  test("reads rows in bulk, and closes only its connection if the reader stops", async () => {
    const database = open();
    const read = (take: (pieces: AsyncIterable<Buffer>) => Promise<string>) =>
      database.transaction((tx) => tx.copyOut("copy (select generate_series(1, 100000)) to stdout", take));
    const all = await read(async (pieces) => Buffer.concat(await Array.fromAsync(pieces)).toString());
    expect(all.split("\n").length).toBe(100_001);
    const broken = read(async (pieces) => {
      for await (const _ of pieces) throw new Error("disk full");
      return "";
    });
    await expect(broken).rejects.toThrow("disk full");
    await expect(read(async () => "not read at all")).rejects.toThrow("COPY was not read to its end");
    const refused = database.transaction((tx) =>
      tx.copyOut("copy (select 1 / 0) to stdout", (pieces) => Array.fromAsync(pieces)),
    );
    await expect(refused).rejects.toMatchObject({ code: "22012" });
    expect(await database.row(sql`select 1 as one`)).toEqual({ one: 1 });
  });

  test("that may be repeated is repeated after a deadlock", async () => {
    await db.run(sql`create table pairs (id int primary key, times int not null default 0)`);
    await db.run(sql`insert into pairs values (1), (2)`);
    const bump = (tx: Queryable, id: number) =>
      tx.run(sql`update pairs set times = times + 1 where id = ${id}`);
    /** Each takes one row, and the other's when both have theirs. */
    const collide = (options?: { readonly mayRepeat: boolean }) => {
      const both = Promise.withResolvers<void>();
      let arrived = 0;
      const take = (mine: number, theirs: number) =>
        db.transaction(async (tx) => {
          await bump(tx, mine);
          if (++arrived === 2) both.resolve();
          await both.promise;
          await bump(tx, theirs);
        }, options);
      return Promise.allSettled([take(1, 2), take(2, 1)]);
    };
    const statuses = async (ended: ReturnType<typeof collide>) =>
      (await ended).map(({ status }) => status).sort();
    expect(await statuses(collide())).toEqual(["fulfilled", "rejected"]);
    expect(await statuses(collide({ mayRepeat: true }))).toEqual(["fulfilled", "fulfilled"]);
    expect(await db.rows(sql`select times from pairs`)).toEqual([{ times: 3 }, { times: 3 }]);
  });

  test("that stays idle is ended by the server, with its locks", async () => {
    const database = open({ idleTransactionMs: 100 }, db.url, "forgetful");
    const isThere = () => db.row(sql`select from pg_stat_activity where application_name = 'forgetful'`);
    let isEnded = false;
    const forgetful = database.transaction(async (tx) => {
      await tx.run(sql`lock table letters`);
      await eventually("the server to end it", async () => (await isThere()) === undefined);
      isEnded = true;
      await tx.run(sql`select 1`);
    });
    await expect(forgetful).rejects.toThrow();
    expect(isEnded).toBe(true);
    expect(await database.run(sql`select 1`)).toBe(1);
  });
});

describe("a server that no longer answers", () => {
  test("fails the statement in time, and the next one gets a new connection", async () => {
    const way = await openDatabaseProxy(db.url);
    const database = open({ answerMs: 300 }, way.url);
    expect(await database.run(sql`select 1`)).toBe(1);
    way.lost = "everything";
    await expect(database.run(sql`select 1`)).rejects.toThrow("Query read timeout");
    way.lost = "nothing";
    expect(await database.run(sql`select 1`)).toBe(1);
  });

  test("fails the transaction in time, without a rollback that would not be answered", async () => {
    const way = await openDatabaseProxy(db.url);
    const database = open({ answerMs: 3_000 }, way.url);
    const begun = performance.now();
    const silenced = database.transaction(async (tx) => {
      await tx.run(sql`insert into letters values ('silenced')`);
      way.lost = "everything";
      await tx.run(sql`select 1`);
    });
    await expect(silenced).rejects.toThrow("Query read timeout");
    // With a rollback it would be twice the time of one answer.
    expect(performance.now() - begun).toBeLessThan(5_800);
    way.lost = "nothing";
    expect(await database.run(sql`select 1`)).toBe(1);
    expect(await words()).not.toContain("silenced");
  });
});

test("the server uses TCP keepalive after a minute", async () => {
  const row = await open().row(sql`
    select reset_val from pg_settings where name = 'tcp_keepalives_idle'`);
  expect(row).toEqual({ reset_val: "60" });
});

describe("listening", () => {
  const notify = (payload: string) => db.run(sql`select pg_notify('news', ${payload})`);
  const sessions = () =>
    db.rows<{ pid: number }>(sql`
      select pid from pg_stat_activity
      where application_name = 'listener' and query = 'listen "news"' and state = 'idle'`);

  test("continues after every break, and leaves nothing when it is aborted", async () => {
    const database = open({}, db.url, "listener");
    const stopping = new AbortController();
    const heard: string[] = [];
    const listening = listen(database, "news", stopping.signal, (payload) => heard.push(payload));
    for (const payload of ["one", "two", "three"]) {
      const [session] = await eventually("a session that listens", async () => {
        const found = await sessions();
        return found.length > 0 && found;
      });
      await notify(payload);
      await eventually(`${payload} to be heard`, async () => heard.includes(payload));
      await db.run(sql`select pg_terminate_backend(${session?.pid})`);
      await eventually("it to end", async () => (await sessions()).every(({ pid }) => pid !== session?.pid));
    }
    await eventually("it to listen again", async () => (await sessions()).length > 0);
    expect(getEventListeners(stopping.signal, "abort")).toHaveLength(1);
    stopping.abort();
    await listening;
    expect(getEventListeners(stopping.signal, "abort")).toEqual([]);
    await eventually("the session to end", async () => (await sessions()).length === 0);
  });

  test("closes a session that cannot listen", async () => {
    const stopping = new AbortController();
    const closed = Promise.withResolvers<void>();
    const deaf: Database = {
      ...db,
      async openSession() {
        const session = await db.openSession();
        session.once("end", closed.resolve);
        await session.query("begin");
        await session.query("select 1/0").catch(() => {});
        return session;
      },
    };
    const listening = listen(deaf, "news", stopping.signal, () => {});
    await closed.promise;
    stopping.abort();
    await listening;
  });
});
