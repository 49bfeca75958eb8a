import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CutOff } from "./cut-off.ts";
import { ProviderTurns } from "./provider-turns.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const HOUR_MS = 3_600_000;
const patient = () => new CutOff(HOUR_MS);

/** Work that ends when told to, and says when it begins. */
function work(begun: string[], name: string) {
  const { promise, resolve } = Promise.withResolvers<string>();
  const run = () => {
    begun.push(name);
    return promise;
  };
  return { run, end: () => resolve(name) };
}

const settled = () => vi.advanceTimersByTimeAsync(0);

describe("turns at a provider", () => {
  test("come one after the other, in the order of asking", async () => {
    const turns = new ProviderTurns();
    const begun: string[] = [];
    const [first, second, third] = [work(begun, "1"), work(begun, "2"), work(begun, "3")];
    const results = [first, second, third].map(({ run }) => turns.take("a.test", patient(), run));
    await settled();
    expect(begun).toEqual(["1"]);
    first.end();
    await settled();
    expect(begun).toEqual(["1", "2"]);
    second.end();
    third.end();
    expect(await Promise.all(results)).toEqual(["1", "2", "3"]);
  });

  test("at different providers come at once", async () => {
    const turns = new ProviderTurns();
    const begun: string[] = [];
    void turns.take("a.test", patient(), work(begun, "a").run);
    void turns.take("b.test", patient(), work(begun, "b").run);
    await settled();
    expect(begun).toEqual(["a", "b"]);
  });

  test("go on after work that failed", async () => {
    const turns = new ProviderTurns();
    await expect(turns.take("a.test", patient(), () => Promise.reject(new Error("no")))).rejects.toThrow(
      "no",
    );
    expect(await turns.take("a.test", patient(), () => Promise.resolve("yes"))).toBe("yes");
  });

  test("are no more than so many in any minute", async () => {
    const turns = new ProviderTurns({ perMinute: 60 });
    const begunAt: number[] = [];
    const start = performance.now();
    const all = Array.from({ length: 150 }, () =>
      turns.take("a.test", patient(), async () => {
        begunAt.push(performance.now() - start);
      }),
    );
    await vi.advanceTimersByTimeAsync(59_999);
    expect(begunAt).toHaveLength(60);
    await vi.advanceTimersByTimeAsync(1);
    expect(begunAt).toHaveLength(120);
    await vi.advanceTimersByTimeAsync(60_000);
    await Promise.all(all);
    expect(begunAt).toHaveLength(150);
  });

  test("that do not come before the cut-off never do", async () => {
    const turns = new ProviderTurns();
    const begun: string[] = [];
    const first = work(begun, "1");
    void turns.take("a.test", patient(), first.run);
    const late = turns.take("a.test", new CutOff(1_000), work(begun, "2").run);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await late).toBeUndefined();
    first.end();
    await settled();
    expect(begun).toEqual(["1"]);
  });

  test("are not waited for by more than so many", async () => {
    const turns = new ProviderTurns({ mostWaiting: 2 });
    const begun: string[] = [];
    const all = ["1", "2", "3", "4"].map((name) => work(begun, name));
    const results = all.map(({ run }) => turns.take("a.test", patient(), run));
    expect(await results[3]).toBeUndefined();
    for (const { end } of all) end();
    expect(await Promise.all(results)).toEqual(["1", "2", "3", undefined]);
  });

  test("are remembered for a minute, and of so many providers at most", async () => {
    const turns = new ProviderTurns({ mostProviders: 3 });
    const done = () => Promise.resolve("done");
    for (const name of ["a", "b", "c"]) await turns.take(name, patient(), done);
    expect(await turns.take("d", patient(), done)).toBeUndefined();
    expect(await turns.take("a", patient(), done)).toBe("done");
    await vi.advanceTimersByTimeAsync(60_001);
    expect(await turns.take("d", patient(), done)).toBe("done");
    expect(turns.size).toBe(1);
  });
});
