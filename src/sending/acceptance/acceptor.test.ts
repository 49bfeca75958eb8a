import sql from "sql-template-tag";
import { beforeEach, describe, expect, test } from "vitest";
import { suppressPeople } from "#audience/suppression-lists/suppress-after-outcome.ts";
import { insertSendingDomain, updateDomainVerification } from "#identity/sending-domains/store.ts";
import { systemClock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { type Reservation, release, reserve } from "#platform/http/idempotency/idempotency.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { draft } from "#test/support/drafts.ts";
import { eventually } from "#test/support/eventually.ts";
import { settleAccount } from "#workspace/billing/meter.ts";
import { plans } from "#workspace/billing/plans.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";
import type { Draft } from "./accept-messages-statement.ts";
import { createAcceptor } from "./acceptor.ts";

const db = await testDatabase();
let workspaceId: WorkspaceId;

beforeEach(async () => {
  workspaceId = await insertBareWorkspace(db);
});

/** Recipients whose messages are in the log, in the queue and in the contents; fails where the three disagree. */
async function stored(): Promise<string[]> {
  const rows = await db.rows<{ localpart: string; parts: number }>(sql`
    select localpart, (select count(*) from delivery_queue q where q.message_id = m.id)
      + (select count(*) from message_contents c where c.message_id = m.id) as parts
    from messages m where workspace_id = ${workspaceId} order by localpart`);
  expect(rows.filter(({ parts }) => parts !== 2)).toEqual([]);
  return rows.map(({ localpart }) => localpart);
}

/** A database that counts the transactions that insert, and can be held up or made to fail. */
function observed(database: Database) {
  const seen = { inserts: 0, before: async () => {} };
  const rows: Database["rows"] = async (statement, name) => {
    if (name === "accept messages") {
      seen.inserts += 1;
      await seen.before();
    }
    return database.rows(statement, name);
  };
  return { seen, database: { ...database, rows } };
}

const outcomes = async (calls: Promise<void>[]) =>
  (await Promise.allSettled(calls)).map((call) => (call.status === "fulfilled" ? "accepted" : call.reason));

describe("a flood of messages", () => {
  beforeEach(async () => {
    await changeWorkspace(db, workspaceId, { plan: "enterprise" }, { clock: systemClock, plans });
    await db.transaction((tx) => settleAccount(tx, plans, workspaceId, new Date()));
  });

  test("shares its commits, and every message is in log, contents and queue", async () => {
    const { seen, database } = observed(db);
    let wakes = 0;
    const acceptor = createAcceptor({
      db: database,
      clock: systemClock,
      plans,
      onCommitted: () => (wakes += 1),
    });
    const people = Array.from({ length: 500 }, (_, at) => `r${String(at).padStart(3, "0")}`);
    await Promise.all(people.map((name) => acceptor.accept(draft(workspaceId, `${name}@a.test`))));
    expect(await stored()).toEqual(people);
    // One and one while the queue is empty, then as many as there are places for in a batch.
    expect(seen.inserts).toBeLessThanOrEqual(6);
    expect(wakes).toBe(seen.inserts);
  });

  test("is answered while the next batch is under way", async () => {
    const { seen, database } = observed(db);
    const acceptor = createAcceptor({ db: database, clock: systemClock, plans, onCommitted: () => {} });
    const insertsAtAnswers = ["a", "b"].map(async (name) => {
      await acceptor.accept(draft(workspaceId, `${name}@a.test`));
      return seen.inserts;
    });
    expect(await Promise.all(insertsAtAnswers)).toEqual([2, 2]);
  });

  test("is stored by halves: those just stored and those who wait take turns", async () => {
    const sizes: number[] = [];
    const rows: Database["rows"] = async (statement, name) => {
      const before = await stored();
      const answer = await db.rows(statement, name);
      if (name === "accept messages") sizes.push((await stored()).length - before.length);
      return answer as never;
    };
    const acceptor = createAcceptor({
      db: { ...db, rows },
      clock: systemClock,
      plans,
      onCommitted: () => {},
    });
    const client = async (name: string) => {
      for (let at = 0; at < 4; at++) await acceptor.accept(draft(workspaceId, `${name}${at}@a.test`));
    };
    await Promise.all(Array.from({ length: 20 }, (_, at) => client(`c${at}-`)));
    expect(sizes.slice(0, 5)).toEqual([1, 10, 10, 10, 10]);
  });

  test("a batch with a suppressed recipient accepts all messages, and does not queue that one", async () => {
    const { seen, database } = observed(db);
    const acceptor = createAcceptor({ db: database, clock: systemClock, plans, onCommitted: () => {} });
    const gone = { addresses: ["gone@a.test"], status: "bounced" } as const;
    const origin = { createdBy: "system", createdAt: new Date() };
    await db.transaction((tx) => suppressPeople(tx, workspaceId, gone, origin));
    await acceptor.acceptTogether(["ada", "gone"].map((name) => draft(workspaceId, `${name}@a.test`)));
    const log = await db.rows<{ localpart: string; status: string; is_queued: boolean }>(sql`
      select localpart, status, exists (select from delivery_queue q where q.message_id = m.id) as is_queued
      from messages m where workspace_id = ${workspaceId} order by localpart`);
    expect(log).toEqual([
      { localpart: "ada", status: "queued", is_queued: true },
      { localpart: "gone", status: "suppressed", is_queued: false },
    ]);
    expect(seen.inserts).toBe(1);
  });

  test("of large ones is cut into batches of some megabytes", async () => {
    const { seen, database } = observed(db);
    const acceptor = createAcceptor({ db: database, clock: systemClock, plans, onCommitted: () => {} });
    const html = "x".repeat(3 * 1024 * 1024);
    const calls = ["a", "b", "c", "d"].map((name) =>
      acceptor.accept(draft(workspaceId, `${name}@a.test`, { html })),
    );
    await Promise.all(calls);
    expect(await stored()).toEqual(["a", "b", "c", "d"]);
    expect(seen.inserts).toBe(4);
  });
});

describe("what is refused", () => {
  const from = (address: string, domain: string) => ({
    ...draft(workspaceId, `to.${domain}@a.test`, { fromEmail: address }),
    sender: { workspaceId, address, domain },
  });

  test("a foreign sender is, and its neighbours are not", async () => {
    const now = new Date();
    const row = await insertSendingDomain(db, workspaceId, "own.test", now);
    const verified = { ownership: true, spf: false, dmarc: false, return_path: false };
    await updateDomainVerification(db, workspaceId, row?.id ?? "", { verified, failedChecks: {}, now });
    const acceptor = createAcceptor({ db: db, clock: systemClock, plans, onCommitted: () => {} });
    const [, own, foreign] = await outcomes([
      acceptor.accept(draft(workspaceId, "first@a.test")),
      acceptor.accept(from("me@own.test", "own.test")),
      acceptor.accept(from("you@foreign.test", "foreign.test")),
    ]);
    expect(own).toBe("accepted");
    expect(foreign).toMatchObject({ code: "VALIDATION_ERROR", details: [{ field: "from_email" }] });
    expect(await stored()).toEqual(["first", "to.own.test"]);
  });

  test.each([
    ["text that PostgreSQL cannot hold (class 22)", { subject: "a\0b" }],
    ["a value that a constraint refuses (class 23)", { source: "carrier pigeon" as "api" }],
  ])("one row with %s is, and the others of its batch are accepted", async (_what, change) => {
    const acceptor = createAcceptor({ db: db, clock: systemClock, plans, onCommitted: () => {} });
    const names = Array.from({ length: 40 }, (_, at) => `r${at + 10}`);
    const calls = names.map((name) =>
      acceptor.accept(draft(workspaceId, `${name}@a.test`, name === "r33" ? change : {})),
    );
    const found = await outcomes(calls);
    const refused = names.filter((_, at) => found[at] !== "accepted");
    expect(refused).toEqual(["r33"]);
    expect(found[names.indexOf("r33")]).toMatchObject({ code: expect.stringMatching(/^2[23]/) });
    expect(await stored()).toEqual(names.filter((name) => name !== "r33"));
  });

  test("a database that is away refuses the batch at once, without trying row by row", async () => {
    const { seen, database } = observed(db);
    seen.before = async () => {
      throw Object.assign(new Error("terminating"), { code: "57P01" });
    };
    const acceptor = createAcceptor({ db: database, clock: systemClock, plans, onCommitted: () => {} });
    const calls = Array.from({ length: 50 }, (_, at) => acceptor.accept(draft(workspaceId, `r${at}@a.test`)));
    const found = await outcomes(calls);
    expect(found.every((reason) => reason.code === "57P01")).toBe(true);
    expect(seen.inserts).toBe(2);
  });
});

describe("when the database does not keep up", () => {
  /** An acceptor whose statements wait for `go`. */
  const heldUp = (limits: { messages: number; bytes: number; waitMs: number }) => {
    const { seen, database } = observed(db);
    const go = Promise.withResolvers<void>();
    seen.before = () => go.promise;
    return {
      go,
      acceptor: createAcceptor({ db: database, clock: systemClock, plans, onCommitted: () => {} }, limits),
    };
  };
  const many = { messages: 100, bytes: 1_000_000, waitMs: 60_000 };

  test("a message that waits too long is 503, and one that is being stored is waited for", async () => {
    const { go, acceptor } = heldUp({ ...many, waitMs: 50 });
    const calls = ["a", "b", "c"].map((name) => acceptor.accept(draft(workspaceId, `${name}@a.test`)));
    const late = await outcomes(calls.slice(1));
    expect(late).toMatchObject([
      { status: 503, headers: { "Retry-After": "1" } },
      { status: 503, headers: { "Retry-After": "1" } },
    ]);
    go.resolve();
    expect(await outcomes(calls.slice(0, 1))).toEqual(["accepted"]);
    expect(await stored()).toEqual(["a"]);
  });

  test("a large message that is being stored does not hold up a small one", async () => {
    const { seen, database } = observed(db);
    const [go, isBeingStored] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    seen.before = () => {
      isBeingStored.resolve();
      return go.promise;
    };
    const acceptor = createAcceptor({ db: database, clock: systemClock, plans, onCommitted: () => {} });
    const large = acceptor.accept(draft(workspaceId, "a@a.test", { html: "x".repeat(1_100_000) }));
    await isBeingStored.promise;
    seen.before = async () => {};
    await acceptor.accept(draft(workspaceId, "b@a.test"));
    expect(await stored()).toEqual(["b"]);
    go.resolve();
    await large;
    expect(await stored()).toEqual(["a", "b"]);
  });

  test("large messages of two workspaces are stored in turns", async () => {
    const other = await insertBareWorkspace(db);
    const { seen, database } = observed(db);
    const [go, isBeingStored] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    seen.before = () => {
      isBeingStored.resolve();
      return go.promise;
    };
    const acceptor = createAcceptor({ db: database, clock: systemClock, plans, onCommitted: () => {} });
    const order: string[] = [];
    const large = (workspace: WorkspaceId, name: string) =>
      acceptor
        .accept(draft(workspace, `${name}@a.test`, { html: "x".repeat(5_000_000) }))
        .then(() => order.push(name));
    const calls = ["a", "b", "c"].map((name) => large(workspaceId, name));
    await isBeingStored.promise;
    calls.push(large(other, "d"));
    go.resolve();
    await Promise.all(calls);
    expect(order).toEqual(["a", "d", "b", "c"]);
  });

  test("a large message whose turn comes too late is refused and not stored", async () => {
    const { go, acceptor } = heldUp({ ...many, bytes: 10_000_000, waitMs: 50 });
    const html = "x".repeat(1_100_000);
    const calls = ["a", "b", "c"].map((name) =>
      acceptor.accept(draft(workspaceId, `${name}@a.test`, { html })),
    );
    expect(await outcomes(calls.slice(1))).toMatchObject([
      { code: "RATE_LIMIT_EXCEEDED" },
      { code: "RATE_LIMIT_EXCEEDED" },
    ]);
    go.resolve();
    expect(await outcomes(calls.slice(0, 1))).toEqual(["accepted"]);
    expect(await stored()).toEqual(["a"]);
  });

  test("more messages than may wait are refused, until there is room again", async () => {
    const { go, acceptor } = heldUp({ ...many, messages: 1 });
    const calls = ["a", "b"].map((name) => acceptor.accept(draft(workspaceId, `${name}@a.test`)));
    const [refused] = await outcomes([acceptor.accept(draft(workspaceId, "d@a.test"))]);
    expect(refused).toMatchObject({ code: "RATE_LIMIT_EXCEEDED", headers: { "Retry-After": "1" } });
    go.resolve();
    await Promise.all(calls);
    await acceptor.accept(draft(workspaceId, "e@a.test"));
    expect(await stored()).toEqual(["a", "b", "e"]);
  });

  test("more bytes than there is memory for are refused, what is being stored included", async () => {
    const { go, acceptor } = heldUp({ ...many, bytes: 2_500 });
    const others = [await insertBareWorkspace(db), await insertBareWorkspace(db)];
    const large = (name: string, owner = workspaceId) =>
      draft(owner, `${name}@a.test`, { html: "x".repeat(1_000) });
    const calls = ["a", "b"].map((name, at) => acceptor.accept(large(name, others[at])));
    const [refused] = await outcomes([acceptor.accept(large("c"))]);
    expect(refused).toMatchObject({ code: "RATE_LIMIT_EXCEEDED" });
    const small = acceptor.accept(draft(workspaceId, "d@a.test"));
    go.resolve();
    await Promise.all([...calls, small]);
    await acceptor.accept(large("e"));
    expect(await stored()).toEqual(["d", "e"]);
  });

  test("attachments count", async () => {
    const { go, acceptor } = heldUp({ ...many, bytes: 1_500 });
    const content = "x".repeat(1_000);
    const attachments = [
      { filename: "a", content, content_type: "text/plain", disposition: "attachment", content_id: null },
    ] as const;
    const calls = [acceptor.accept(draft(workspaceId, "a@a.test", { attachments }))];
    const [refused] = await outcomes([acceptor.accept(draft(workspaceId, "b@a.test", { attachments }))]);
    expect(refused).toMatchObject({ code: "RATE_LIMIT_EXCEEDED" });
    go.resolve();
    await Promise.all(calls);
  });
});

describe("an Idempotency-Key", () => {
  const reservation = (key: string): Reservation => ({
    workspaceId,
    path: "/api/v1/emails/send",
    key,
    token: newId(),
    holder: null,
    answerFor: (data) => ({ status: 201, body: JSON.stringify(data) }),
  });
  const keyed = (held: Reservation, to: string): Draft => ({
    ...draft(workspaceId, to),
    idempotency: { held, data: { sentTo: to } },
  });
  const lapse = () =>
    db.run(sql`
      update idempotency_keys set reserved_until = now() - interval '1 second'
      where workspace_id = ${workspaceId}`);

  test("is answered in the transaction of its message", async () => {
    const held = reservation("k");
    expect(await reserve(db, held, {})).toBeUndefined();
    const acceptor = createAcceptor({ db: db, clock: systemClock, plans, onCommitted: () => {} });
    await Promise.all([
      acceptor.accept(keyed(held, "a@a.test")),
      acceptor.accept(draft(workspaceId, "b@a.test")),
    ]);
    expect(await reserve(db, reservation("k"), {})).toEqual({ status: 201, body: '{"sentTo":"a@a.test"}' });
    expect(await stored()).toEqual(["a", "b"]);
  });

  test("sends one message when a retry took it over from a call that was too slow", async () => {
    const [slow, fast] = [reservation("k"), reservation("k")];
    await reserve(db, slow, {});
    await lapse();
    expect(await reserve(db, fast, {})).toBeUndefined();
    const acceptor = createAcceptor({ db: db, clock: systemClock, plans, onCommitted: () => {} });
    await acceptor.accept(keyed(fast, "fast@a.test"));
    const [late, neighbour] = await outcomes([
      acceptor.accept(keyed(slow, "slow@a.test")),
      acceptor.accept(draft(workspaceId, "neighbour@a.test")),
    ]);
    expect([late.code, neighbour]).toEqual(["CONFLICT", "accepted"]);
    expect(await stored()).toEqual(["fast", "neighbour"]);
    expect(await reserve(db, reservation("k"), {})).toMatchObject({ body: '{"sentTo":"fast@a.test"}' });
  });

  test("of slow call and retry that are accepted at the same moment one wins", async () => {
    const acceptors = [
      createAcceptor({ db: db, clock: systemClock, plans, onCommitted: () => {} }),
      createAcceptor({ db: db, clock: systemClock, plans, onCommitted: () => {} }),
    ];
    for (let round = 0; round < 20; round += 1) {
      const [slow, fast] = [reservation(`k${round}`), reservation(`k${round}`)];
      await reserve(db, slow, {});
      await lapse();
      const found = await outcomes([
        (async () => acceptors[0]?.accept(keyed(slow, `slow${round}@a.test`)))(),
        (async () => {
          if ((await reserve(db, fast, {})) === undefined)
            await acceptors[1]?.accept(keyed(fast, `fast${round}@a.test`));
          else throw new Error("replayed");
        })(),
      ]);
      expect(found.filter((one) => one === "accepted")).toHaveLength(1);
    }
    expect(await stored()).toHaveLength(20);
  });

  test("is not given back by the one that lost it", async () => {
    const [slow, fast] = [reservation("k"), reservation("k")];
    await reserve(db, slow, {});
    await lapse();
    await reserve(db, fast, {});
    await release(db, slow);
    await expect(reserve(db, reservation("k"), {})).rejects.toMatchObject({ code: "CONFLICT" });
  });

  test("is free again, and nothing is stored, when the message was refused", async () => {
    const held = reservation("k");
    await reserve(db, held, {});
    const acceptor = createAcceptor({ db: db, clock: systemClock, plans, onCommitted: () => {} });
    const bad = keyed(held, "a@a.test");
    const [fault] = await outcomes([
      acceptor.accept({ ...bad, message: { ...bad.message, subject: "a\0b" } }),
    ]);
    expect(fault.code).toMatch(/^22/);
    await release(db, held);
    expect(await reserve(db, reservation("k"), {})).toBeUndefined();
    expect(await stored()).toEqual([]);
  });
});

describe("an account that another transaction has locked", () => {
  test("only delays messages of its own workspace", async () => {
    const acceptor = createAcceptor({ db, clock: systemClock, plans, onCommitted: () => {} });
    const other = await insertBareWorkspace(db);
    await db.transaction((tx) => settleAccount(tx, plans, workspaceId, new Date()));
    await db.transaction(async (tx) => {
      await settleAccount(tx, plans, workspaceId, new Date());
      let isAccepted = false;
      const held = [1, 2, 3].map((at) => acceptor.accept(draft(workspaceId, `held${at}@a.test`)));
      const ours = Promise.all(held).then(() => (isAccepted = true));
      await acceptor.accept(draft(other, "free@a.test"));
      expect(isAccepted).toBe(false);
      // Kept from being awaited here: it ends when this transaction does.
      void ours;
    });
    await eventually(
      "those that waited to be accepted",
      async () => (await stored()).filter((name) => name.startsWith("held")).length === 3,
    );
  });

  test("is waited for no longer than for anything else", async () => {
    const limits = { messages: 100, bytes: 1_000_000, waitMs: 100 };
    const acceptor = createAcceptor({ db, clock: systemClock, plans, onCommitted: () => {} }, limits);
    await db.transaction((tx) => settleAccount(tx, plans, workspaceId, new Date()));
    await db.transaction(async (tx) => {
      await settleAccount(tx, plans, workspaceId, new Date());
      const [late] = await outcomes([acceptor.accept(draft(workspaceId, "late@a.test"))]);
      expect(late).toMatchObject({ status: 503, headers: { "Retry-After": "1" } });
    });
    expect(await stored()).toEqual([]);
  });

  test("does not lead other workspaces' messages the long way", async () => {
    const other = await insertBareWorkspace(db);
    await db.transaction((tx) => settleAccount(tx, plans, workspaceId, new Date()));
    const batches: string[] = [];
    const [free1Began, heldAgain] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const rows: Database["rows"] = async (statement, name) => {
      if (name === "accept messages") {
        const holds = (person: string) =>
          statement.values.some((value) => value instanceof Buffer && value.includes(person));
        batches.push(["held", "free1", "free2"].filter(holds).join());
        if (batches.at(-1) === "free1") {
          free1Began.resolve();
          await heldAgain.promise;
        } else if (batches.at(-1) === "held" && batches.includes("free1")) heldAgain.resolve();
      }
      return db.rows(statement, name);
    };
    const deps = { db: { ...db, rows }, clock: systemClock, plans, onCommitted: () => {} };
    const acceptor = createAcceptor(deps);
    const held = await db.transaction(async (tx) => {
      await settleAccount(tx, plans, workspaceId, new Date());
      const calls = [acceptor.accept(draft(workspaceId, "held@a.test"))];
      const free1 = acceptor.accept(draft(other, "free1@a.test"));
      await free1Began.promise;
      await Promise.all([free1, acceptor.accept(draft(other, "free2@a.test"))]);
      return { calls };
    });
    await Promise.all(held.calls);
    expect(new Set(batches)).toEqual(new Set(["held", "free1", "free2"]));
  });
});
