import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createLimiter, createWorkspaceLimiter } from "./concurrency.ts";
import { asWorkspaceId } from "./ids.ts";

const [one, other] = [asWorkspaceId("one"), asWorkspaceId("other")];

const bounds = { concurrency: 1, maxWaiting: 10, maxWaitMs: 10_000 };
const tooMany = { code: "RATE_LIMIT_EXCEEDED", message: "Too many", headers: { "Retry-After": "5" } };

/** Tasks that end when `end` is called. */
function pieces(names: readonly string[]) {
  const started: string[] = [];
  const ends = new Map(names.map((name) => [name, Promise.withResolvers<string>()]));
  const work = (name: string) => () => {
    started.push(name);
    return ends.get(name)?.promise ?? Promise.reject(new Error(name));
  };
  return { started, work, end: (name: string) => ends.get(name)?.resolve(name) };
}

test("a workspace runs as many tasks at a time as its limit says, and the others follow in order", async () => {
  const limit = createWorkspaceLimiter({ ...bounds, concurrency: 2 }, "Too many");
  const { started, work, end } = pieces(["a", "b", "c", "d"]);
  const all = ["a", "b", "c", "d"].map((name) => limit(one, work(name)));
  await nextTurn();
  expect(started).toEqual(["a", "b"]);
  end("b");
  await all[1];
  await nextTurn();
  expect(started).toEqual(["a", "b", "c"]);
  for (const name of ["a", "c", "d"]) end(name);
  expect(await Promise.all(all)).toEqual(["a", "b", "c", "d"]);
  await nextTurn();
  expect(started).toEqual(["a", "b", "c", "d"]);
});

test("a task that fails makes room for the next", async () => {
  const limit = createWorkspaceLimiter(bounds, "Too many");
  const { work, end } = pieces(["b"]);
  const failed = limit(one, () => Promise.reject(new Error("no")));
  const next = limit(one, work("b"));
  await expect(failed).rejects.toThrow("no");
  end("b");
  expect(await next).toBe("b");
});

test("another workspace does not wait, and a task is refused when the queue is full", async () => {
  const limit = createWorkspaceLimiter({ ...bounds, maxWaiting: 1 }, "Too many");
  const { started, work, end } = pieces(["a", "b", "x"]);
  const turns = [limit(one, work("a")), limit(one, work("b")), limit(other, work("x"))];
  await nextTurn();
  expect(started).toEqual(["a", "x"]);
  await expect(limit(one, work("c"))).rejects.toMatchObject(tooMany);
  for (const name of ["a", "b", "x"]) end(name);
  await Promise.all(turns);
});

test("a task that waits too long is refused, and the others keep their order", async () => {
  const limit = createWorkspaceLimiter({ ...bounds, maxWaitMs: 50 }, "Too many");
  const { started, work, end } = pieces(["a", "b", "c"]);
  const running = limit(one, work("a"));
  await expect(limit(one, work("b"))).rejects.toMatchObject(tooMany);
  const next = limit(one, work("c"));
  end("a");
  end("c");
  expect(await Promise.all([running, next])).toEqual(["a", "c"]);
  await nextTurn();
  expect(started).toEqual(["a", "c"]);
});

test("a task that was refused is not run, and does not count as waiting", async () => {
  const limit = createWorkspaceLimiter({ ...bounds, maxWaiting: 1, maxWaitMs: 50 }, "Too many");
  const { started, work, end } = pieces(["a", "b", "c"]);
  const running = limit(one, work("a"));
  await expect(limit(one, work("b"))).rejects.toMatchObject(tooMany);
  const next = limit(one, work("c"));
  end("a");
  end("c");
  expect(await Promise.all([running, next])).toEqual(["a", "c"]);
  expect(started).toEqual(["a", "c"]);
});

test("a limit without keys keeps the order, too", async () => {
  const limit = createLimiter(1);
  const { started, work, end } = pieces(["a", "b"]);
  const all = ["a", "b"].map((name) => limit(work(name)));
  await nextTurn();
  expect(started).toEqual(["a"]);
  end("a");
  await all[0];
  await nextTurn();
  expect(started).toEqual(["a", "b"]);
  end("b");
  await all[1];
});
