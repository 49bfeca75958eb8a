import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { lowerThreadPoolPriority } from "./thread-pool-priority.ts";

/** Names and nice values of this process's threads: the 2nd, in brackets, and the 19th field of stat in proc(5). */
async function threads(): Promise<{ name: string; nice: number }[]> {
  const ids = await readdir("/proc/self/task");
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/self/task/${id}/stat`, "utf8")));
  return lines.map((line) => {
    const end = line.lastIndexOf(")");
    return { name: line.slice(line.indexOf("(") + 1, end), nice: Number(line.slice(end + 2).split(" ")[16]) };
  });
}

test.runIf(process.platform === "linux")(
  "the threads of the pool have a lower priority, and the event loop a normal one",
  async () => {
    const [loop] = await threads();
    const lowered = await lowerThreadPoolPriority();
    const after = await threads();
    const behind = after.filter(({ nice }) => nice === 10);
    expect(lowered).toBeGreaterThan(0);
    expect(behind).toHaveLength(lowered);
    expect(behind.every(({ name }) => name.startsWith("libuv-worker"))).toBe(true);
    expect(after[0]).toEqual(loop);
  },
);
