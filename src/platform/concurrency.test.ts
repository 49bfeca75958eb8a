import { expect, test } from "vitest";
import { createTurns, createWorkspaceTurns } from "./concurrency.ts";
import { asWorkspaceId } from "./ids.ts";

const [one, other] = [asWorkspaceId("one"), asWorkspaceId("other")];

const bounds = { atOnce: 1, mostWaiting: 10, mostWaitMs: 10_000 };
const tooMany = { code: "RATE_LIMIT_EXCEEDED", message: "Too many", headers: { "Retry-After": "5" } };

/** Work that ends when it is told to. */
function pieces(names: readonly string[]) {
  const started: string[] = [];
  const ends = new Map(names.map((name) => [name, Promise.withResolvers<string>()]));
  const work = (name: string) => () => {
    started.push(name);
    return ends.get(name)?.promise ?? Promise.reject(new Error(name));
  };
  return { started, work, end: (name: string) => ends.get(name)?.resolve(name) };
}

test("a workspace has so many turns at once, and the next come in order", async () => {
  const takeTurn = createWorkspaceTurns({ ...bounds, atOnce: 2 }, "Too many");
  const { started, work, end } = pieces(["a", "b", "c", "d"]);
  const all = ["a", "b", "c", "d"].map((name) => takeTurn(one, work(name)));
  expect(started).toEqual(["a", "b"]);
  end("b");
  await all[1];
  expect(started).toEqual(["a", "b", "c"]);
  for (const name of ["a", "c", "d"]) end(name);
  expect(await Promise.all(all)).toEqual(["a", "b", "c", "d"]);
  expect(started).toEqual(["a", "b", "c", "d"]);
});

test("work that fails gives its turn on", async () => {
  const takeTurn = createWorkspaceTurns(bounds, "Too many");
  const { work, end } = pieces(["b"]);
  const failed = takeTurn(one, () => Promise.reject(new Error("no")));
  const next = takeTurn(one, work("b"));
  await expect(failed).rejects.toThrow("no");
  end("b");
  expect(await next).toBe("b");
});

test("another workspace does not wait, and a line that is too long is refused", async () => {
  const takeTurn = createWorkspaceTurns({ ...bounds, mostWaiting: 1 }, "Too many");
  const { started, work, end } = pieces(["a", "b", "x"]);
  const turns = [takeTurn(one, work("a")), takeTurn(one, work("b")), takeTurn(other, work("x"))];
  expect(started).toEqual(["a", "x"]);
  await expect(takeTurn(one, work("c"))).rejects.toMatchObject(tooMany);
  for (const name of ["a", "b", "x"]) end(name);
  await Promise.all(turns);
});

test("who waits too long is refused, and the others keep their places", async () => {
  const takeTurn = createWorkspaceTurns({ ...bounds, mostWaitMs: 50 }, "Too many");
  const { started, work, end } = pieces(["a", "b", "c"]);
  const running = takeTurn(one, work("a"));
  await expect(takeTurn(one, work("b"))).rejects.toMatchObject(tooMany);
  const next = takeTurn(one, work("c"));
  end("a");
  end("c");
  expect(await Promise.all([running, next])).toEqual(["a", "c"]);
  expect(started).toEqual(["a", "c"]);
});

test("one line for everybody keeps the order, too", async () => {
  const takeTurn = createTurns(1);
  const { started, work, end } = pieces(["a", "b"]);
  const all = ["a", "b"].map((name) => takeTurn(work(name)));
  expect(started).toEqual(["a"]);
  end("a");
  await all[0];
  expect(started).toEqual(["a", "b"]);
  end("b");
  await all[1];
});
