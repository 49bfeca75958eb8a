import sql from "sql-template-tag";
import { Type } from "typebox";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { lockKey } from "#platform/database/advisory-lock-key.ts";
import { ApiError } from "#platform/errors.ts";
import { endpoint, need, type Resource } from "#platform/http/endpoint.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { type BareServer, insertBareWorkspace, startBareServer } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { removeOldKeys, storeResponseIn } from "./idempotency.ts";

const things: Resource = { name: "things", label: "Things", group: "G" };
const Thing = Type.Object({ id: Type.String() });
const declared = {
  method: "POST",
  summary: "Make a thing",
  needs: need(things, "write"),
  body: Type.Object({ name: Type.String() }),
  answer: Thing,
  status: 201,
  message: "Made",
  idempotent: true,
} as const;

const database = await testDatabase();
let api: BareServer;
let workspaceId: WorkspaceId;
let key: string;
/** How often a handler ran, and what it does; set by each test. */
let runs = 0;
let work: () => Promise<void>;

beforeAll(async () => {
  const run = async () => {
    runs += 1;
    await work();
    return { id: newId() };
  };
  api = await startBareServer(database, [
    endpoint({ ...declared, id: "createThing", path: "/things", handle: run }),
    endpoint({
      ...declared,
      id: "createNamed",
      path: "/named",
      body: Type.Object({ name: Type.String(), thing_id: Type.String({ format: "uuid" }) }),
      handle: run,
    }),
    endpoint({ ...declared, id: "createOther", path: "/others", handle: run }),
    endpoint({
      ...declared,
      id: "createStored",
      path: "/stored",
      handle: ({ idempotency }) =>
        database.transaction(async (tx) => storeResponseIn(tx, idempotency, await run())),
    }),
  ]);
});
beforeEach(async () => {
  workspaceId = await insertBareWorkspace(database);
  key = api.newKey(workspaceId);
  runs = 0;
  work = async () => {};
});

/** A session that holds a lock, as a process that lives does. */
async function openLock(lock: number) {
  const session = await database.openSession();
  await session.query("select pg_advisory_lock($1)", [lock]);
  return { lock, [Symbol.asyncDispose]: () => session.end() };
}

const post = (idempotencyKey: string, { path = "/things", as = key, body = { name: "a" } as unknown } = {}) =>
  api.call("POST", path, as, body, { "Idempotency-Key": idempotencyKey });

describe("an Idempotency-Key", () => {
  it.each(["/things", "/stored"])("makes %s answer a repeated call with the first answer", async (path) => {
    const first = await post("k", { path });
    const second = await post("k", { path });
    expect(first.status).toBe(201);
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    expect(second.status).toBe(201);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(second.body).toEqual(first.body);
    expect(runs).toBe(1);
  });

  it("runs one of 50 concurrent calls; the others get its response or a conflict", async () => {
    const finish = Promise.withResolvers<void>();
    work = () => finish.promise;
    const calls = Array.from({ length: 50 }, () => post("k"));
    const early = await Promise.race(calls);
    expect(early.status).toBe(409);
    expect(early.body.code).toBe("CONFLICT");
    expect(early.headers.get("retry-after")).toBe("1");
    finish.resolve();
    const answers = await Promise.all(calls);
    expect(runs).toBe(1);
    const made = answers.filter(({ status }) => status === 201);
    expect(new Set(made.map(({ body }) => body.data.id)).size).toBe(1);
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
    expect((await post("k")).body).toEqual(made[0]?.body);
  });

  it("with another body is a conflict, while the first runs and afterwards", async () => {
    await post("k");
    const other = await post("k", { body: { name: "b" } });
    expect(other.status).toBe(409);
    expect(other.body.error).toMatch(/another body/);
    expect(runs).toBe(1);
  });

  it("treats bodies as equal whatever their white space and the case of their ids", async () => {
    // One is parsed on the event loop, the other, which is larger by its blanks, in the thread for large ones.
    const id = newId();
    const fields = { name: "x".repeat(250_000), thing_id: id };
    const small = JSON.stringify(fields);
    const large = small.replace('","', `"${" ".repeat(50_000)},"`).replace(id, id.toUpperCase());
    const answers = [];
    for (const body of [large, small, large]) {
      answers.push(await api.call("POST", "/named", key, body, { "Idempotency-Key": "k" }));
    }
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(runs).toBe(1);
    const other = large.replace("xx", "xy");
    expect((await api.call("POST", "/named", key, other, { "Idempotency-Key": "k" })).status).toBe(409);
  });

  it("belongs to a workspace and a path", async () => {
    const stranger = api.newKey(await insertBareWorkspace(database));
    const answers = [
      await post("k"),
      await post("k", { as: stranger }),
      await post("k", { path: "/others" }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(runs).toBe(3);
  });

  it("is the same for every key of the workspace", async () => {
    await post("k");
    const replayed = await post("k", { as: api.newKey(workspaceId) });
    expect(replayed.headers.get("idempotent-replayed")).toBe("true");
  });

  it("replays errors of the handler, too", async () => {
    work = async () => {
      throw new ApiError("CONFLICT");
    };
    const first = await post("k");
    work = async () => {};
    const second = await post("k");
    expect([first.status, second.status]).toEqual([409, 409]);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
  });

  it.each([
    ["a failure of ours", () => new Error("broken"), 500],
    ["429", () => new ApiError("RATE_LIMIT_EXCEEDED"), 429],
    ["402, which a top-up ends", () => new ApiError("INSUFFICIENT_BALANCE"), 402],
  ])("is free again after %s", async (_what, fault, status) => {
    work = async () => {
      throw fault();
    };
    expect((await post("k")).status).toBe(status);
    work = async () => {};
    const second = await post("k");
    expect(second.status).toBe(201);
    expect(second.headers.get("idempotent-replayed")).toBeNull();
  });

  it("whose response cannot be stored does not fail the request, and is not free at once", async () => {
    work = async () => {
      await database.run(sql`alter table idempotency_keys rename to lost_keys`);
    };
    const first = await post("k");
    await database.run(sql`alter table lost_keys rename to idempotency_keys`);
    work = async () => {};
    expect([first.status, (await post("k")).status, runs]).toEqual([201, 409, 1]);
  });

  it("is not used up by an invalid body", async () => {
    expect((await post("k", { body: {} })).status).toBe(400);
    expect((await post("k")).status).toBe(201);
  });

  it("whose first call died can be taken over after a minute, by one call only", async () => {
    await post("k");
    const die = (age: string) =>
      database.run(sql`
        update idempotency_keys set answer_status = null, answer_body = null,
          reserved_until = now() - ${age}::interval
        where workspace_id = ${workspaceId}`);
    await die("-1 second");
    expect((await post("k")).status).toBe(409);
    await die("1 second");
    const finish = Promise.withResolvers<void>();
    work = () => finish.promise;
    const calls = Array.from({ length: 10 }, () => post("k"));
    await Promise.race(calls);
    finish.resolve();
    const answers = await Promise.all(calls);
    expect(answers.some(({ status }) => status === 201)).toBe(true);
    expect(runs).toBe(2);
  });

  describe("whose holder", () => {
    const hold = (holder: number | null) =>
      database.run(sql`
        update idempotency_keys set holder = ${holder}, answer_status = null, answer_body = null
        where workspace_id = ${workspaceId}`);

    it("lives is not free before a minute has passed", async () => {
      await post("k");
      await using session = await openLock(lockKey("a process that lives"));
      await hold(session.lock);
      expect((await post("k")).status).toBe(409);
    });

    it("is unknown is not free before a minute has passed", async () => {
      await post("k");
      await hold(null);
      expect((await post("k")).status).toBe(409);
    });

    it("has died is free at once, for one call only", async () => {
      await post("k");
      await hold(lockKey("a process that is dead"));
      const finish = Promise.withResolvers<void>();
      work = () => finish.promise;
      const calls = Array.from({ length: 10 }, () => post("k"));
      expect((await Promise.race(calls)).status).toBe(409);
      finish.resolve();
      const statuses = (await Promise.all(calls)).map(({ status }) => status);
      expect(statuses).toContain(201);
      expect(runs).toBe(2);
    });

    it("was taken for dead cannot store a response after another call has taken over", async () => {
      const wake = Promise.withResolvers<void>();
      const started = Promise.withResolvers<void>();
      work = () => {
        started.resolve();
        return wake.promise;
      };
      const frozen = post("k", { path: "/stored" });
      await started.promise;
      await database.run(sql`
        update idempotency_keys set holder = ${lockKey("a process that is frozen")}
        where workspace_id = ${workspaceId}`);
      work = async () => {};
      const next = await post("k", { path: "/stored" });
      wake.resolve();
      expect([next.status, (await frozen).status]).toEqual([201, 409]);
      expect((await post("k", { path: "/stored" })).body).toEqual(next.body);
    });
  });

  describe("that was taken over from a call that is too slow", () => {
    /** A call that hangs in its work until `wake`; meanwhile another one has taken its key over. */
    const overtake = async (path: string) => {
      const wake = Promise.withResolvers<void>();
      const started = Promise.withResolvers<void>();
      work = () => {
        started.resolve();
        return wake.promise;
      };
      const slow = post("k", { path });
      await started.promise;
      await database.run(sql`
        update idempotency_keys set reserved_until = now() - interval '1 second'
        where workspace_id = ${workspaceId}`);
      return { slow, wake };
    };

    it.each(["/things", "/stored"])("keeps the answer of the one that took %s over", async (path) => {
      const { slow, wake } = await overtake(path);
      work = async () => {};
      const fast = await post("k", { path });
      wake.resolve();
      await slow;
      expect((await post("k", { path })).body).toEqual(fast.body);
    });

    it("is not released by the late failure of the slow one", async () => {
      const { slow, wake } = await overtake("/things");
      const finish = Promise.withResolvers<void>();
      const started = Promise.withResolvers<void>();
      work = () => {
        started.resolve();
        return finish.promise;
      };
      const successor = post("k");
      await started.promise;
      wake.reject(new Error("broken"));
      expect((await slow).status).toBe(500);
      expect((await post("k")).status).toBe(409);
      finish.resolve();
      expect((await successor).status).toBe(201);
      expect(runs).toBe(2);
    });
  });

  it("is forgotten after 24 hours", async () => {
    await post("old");
    await post("new");
    const age = (by: string) =>
      database.run(sql`
        update idempotency_keys set created_at = now() - ${by}::interval
        where workspace_id = ${workspaceId} and key = 'old'`);
    await age("23 hours 59 minutes");
    expect((await post("old")).headers.get("idempotent-replayed")).toBe("true");
    await age("24 hours 1 second");
    expect((await post("old", { body: { name: "b" } })).status).toBe(201);
    expect(runs).toBe(3);
    await age("24 hours 1 second");
    expect(await removeOldKeys(database, 100)).toBe(1);
    expect((await post("new")).headers.get("idempotent-replayed")).toBe("true");
  });

  it.each(["", "a b", "x".repeat(257), "\u00e9"])("that is malformed is refused: %j", async (value) => {
    const { status, body } = await post(value);
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: "VALIDATION_ERROR", details: [{ field: "Idempotency-Key" }] });
  });

  it("may be left out", async () => {
    const body = { name: "a" };
    const answers = [
      await api.call("POST", "/things", key, body),
      await api.call("POST", "/things", key, body),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(runs).toBe(2);
  });
});
