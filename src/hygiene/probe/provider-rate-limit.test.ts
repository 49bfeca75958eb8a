import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { HOUR_MS } from "#platform/time-units.ts";
import { ProbeDeadline } from "./probe-deadline.ts";
import { ProviderRateLimit } from "./provider-rate-limit.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const inAnHour = () => new ProbeDeadline(HOUR_MS);

/** A session that ends on request; it adds its name to `begun`. */
function session(begun: string[], name: string) {
  const { promise, resolve } = Promise.withResolvers<string>();
  const run = () => {
    begun.push(name);
    return promise;
  };
  return { run, end: () => resolve(name) };
}

const settled = () => vi.advanceTimersByTimeAsync(0);

describe("sessions with a provider", () => {
  test("run one after the other, in the order of arrival", async () => {
    const limit = new ProviderRateLimit();
    const begun: string[] = [];
    const [first, second, third] = [session(begun, "1"), session(begun, "2"), session(begun, "3")];
    const results = [first, second, third].map(({ run }) => limit.run("a.test", inAnHour(), run));
    await settled();
    expect(begun).toEqual(["1"]);
    first.end();
    await settled();
    expect(begun).toEqual(["1", "2"]);
    second.end();
    third.end();
    expect(await Promise.all(results)).toEqual(["1", "2", "3"]);
  });

  test("run at once when the providers differ", async () => {
    const limit = new ProviderRateLimit();
    const begun: string[] = [];
    void limit.run("a.test", inAnHour(), session(begun, "a").run);
    void limit.run("b.test", inAnHour(), session(begun, "b").run);
    await settled();
    expect(begun).toEqual(["a", "b"]);
  });

  test("continue after one that failed", async () => {
    const limit = new ProviderRateLimit();
    await expect(limit.run("a.test", inAnHour(), () => Promise.reject(new Error("no")))).rejects.toThrow(
      "no",
    );
    expect(await limit.run("a.test", inAnHour(), () => Promise.resolve("yes"))).toBe("yes");
  });

  test("are at most perMinute in any minute", async () => {
    const limit = new ProviderRateLimit({ perMinute: 60 });
    const begunAt: number[] = [];
    const start = performance.now();
    const all = Array.from({ length: 150 }, () =>
      limit.run("a.test", inAnHour(), async () => {
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

  test("that cannot begin before their deadline never do", async () => {
    const limit = new ProviderRateLimit();
    const begun: string[] = [];
    const first = session(begun, "1");
    void limit.run("a.test", inAnHour(), first.run);
    const late = limit.run("a.test", new ProbeDeadline(1_000), session(begun, "2").run);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await late).toBeUndefined();
    first.end();
    await settled();
    expect(begun).toEqual(["1"]);
  });

  test("are refused when too many wait", async () => {
    const limit = new ProviderRateLimit({ mostWaiting: 2 });
    const begun: string[] = [];
    const all = ["1", "2", "3", "4"].map((name) => session(begun, name));
    const results = all.map(({ run }) => limit.run("a.test", inAnHour(), run));
    expect(await results[3]).toBeUndefined();
    for (const { end } of all) end();
    expect(await Promise.all(results)).toEqual(["1", "2", "3", undefined]);
  });

  test("are counted for a minute, and for a limited number of providers", async () => {
    const limit = new ProviderRateLimit({ mostProviders: 3 });
    const done = () => Promise.resolve("done");
    for (const name of ["a", "b", "c"]) await limit.run(name, inAnHour(), done);
    expect(await limit.run("d", inAnHour(), done)).toBeUndefined();
    expect(await limit.run("a", inAnHour(), done)).toBe("done");
    await vi.advanceTimersByTimeAsync(60_001);
    expect(await limit.run("d", inAnHour(), done)).toBe("done");
    expect(limit.size).toBe(1);
  });
});
