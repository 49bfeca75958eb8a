/**
 * The priority of this process's thread pool (libuv's, where Node.js signs, hashes and reads files).
 *
 * A signature takes a quarter of a millisecond of a core. Threads that make them one after the other at the same
 * priority as everybody else keep the event loop, which has the next one to hand out, from a core while another one
 * lies idle: on two cores that cost a sixth of the delivery rate. Behind everybody else they take what is left over,
 * which is enough, and the API and PostgreSQL on the same machine answer first.
 */
import { randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import os from "node:os";
import { promisify } from "node:util";

const POOL_THREAD = /^libuv-worker/;
const TASKS = "/proc/self/task";

/**
 * Lets everything else on this machine go before the pool's threads. Only Linux has a priority for each thread
 * (setpriority(2), "C library/kernel differences"); elsewhere, and where /proc cannot be read, nothing happens.
 * @returns how many threads have the priority now
 */
export async function lowerThreadPoolPriority(): Promise<number> {
  if (process.platform !== "linux") return 0;
  // The pool starts with its first task.
  await promisify(randomBytes)(1);
  try {
    const threads = await readdir(TASKS);
    const names = await Promise.all(threads.map((thread) => readFile(`${TASKS}/${thread}/comm`, "utf8")));
    const pool = threads.filter((_thread, at) => POOL_THREAD.test(names[at] ?? ""));
    for (const thread of pool) os.setPriority(Number(thread), os.constants.priority.PRIORITY_BELOW_NORMAL);
    return pool.length;
  } catch {
    return 0;
  }
}
