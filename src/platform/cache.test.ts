import { describe, expect, test } from "vitest";
import { AsyncCache, ExpiringMap } from "./cache.ts";

describe("an expiring map", () => {
  test("an entry expires after its own time", () => {
    let now = 0;
    const map = new ExpiringMap<string>(10, () => now);
    map.set("short", "a", 10);
    map.set("long", "b", 20);
    now = 10;
    expect([map.get("short"), map.get("long"), map.size]).toEqual([undefined, "b", 1]);
  });

  test("a full map drops the entry set longest ago", () => {
    const map = new ExpiringMap<number>(2);
    map.set("a", 1, 1_000);
    map.set("b", 2, 1_000);
    map.set("a", 3, 1_000);
    map.set("c", 4, 1_000);
    expect([map.get("a"), map.get("b"), map.get("c")]).toEqual([3, undefined, 4]);
  });
});

describe("an async cache", () => {
  const counting = (now: () => number = () => 0) => {
    let asked = 0;
    const answers = new AsyncCache<number>({ ms: 10, most: 10, isKept: (answer) => answer !== 2, now });
    return { ask: () => answers.get("what", async () => ++asked), answers };
  };

  test("shares a load, keeps its value for its time, and loads again after that or when cleared", async () => {
    let now = 0;
    const { ask, answers } = counting(() => now);
    expect(await Promise.all([ask(), ask()])).toEqual([1, 1]);
    expect(await ask()).toBe(1);
    now = 10;
    expect(await ask()).toBe(2);
    expect(await ask()).toBe(3);
    answers.clear();
    expect(await ask()).toBe(4);
  });

  test("a failed load rejects all its callers, and is not kept", async () => {
    const answers = new AsyncCache<string>({ ms: 1_000, most: 10 });
    const fail = () => Promise.reject(new Error("away"));
    const both = [answers.get("what", fail), answers.get("what", async () => "never asked")];
    expect(await Promise.allSettled(both)).toMatchObject([{ status: "rejected" }, { status: "rejected" }]);
    expect(await answers.get("what", async () => "back")).toBe("back");
  });

  test("a late failure does not remove a newer value", async () => {
    const answers = new AsyncCache<string>({ ms: 1_000, most: 10 });
    const late = Promise.withResolvers<string>();
    const first = answers.get("what", () => late.promise);
    answers.clear();
    await answers.get("what", async () => "newer");
    late.reject(new Error("away"));
    await expect(first).rejects.toThrow("away");
    expect(await answers.get("what", async () => "asked again")).toBe("newer");
  });
});
