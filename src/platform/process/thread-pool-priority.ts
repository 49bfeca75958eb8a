/**
 * Lowers the priority of libuv's thread pool, in which Node.js signs, hashes and reads files.
 *
 * A signature takes a quarter of a millisecond of a core. With normal priority, busy pool threads keep the event loop, which
 * hands out their work, from getting a core: on two cores this cost a sixth of the delivery rate. With a lower priority they
 * use the remaining time, which is enough, and the API and PostgreSQL on the same machine respond first.
 */
import { randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import os from "node:os";
import { promisify } from "node:util";

const POOL_THREAD = /^libuv-worker/;
const TASKS = "/proc/self/task";

const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = os.constants.priority;

/** Gives the whole process, threads that it starts later included, only the time that others leave (Linux: nice 19). */
export async function useSpareTime(): Promise<void> {
  await lowerThreadPoolPriority(PRIORITY_LOW);
  // On Linux this is the priority of the calling thread, which new threads inherit.
  os.setPriority(PRIORITY_LOW);
}

/**
 * Only Linux has priorities for single threads (setpriority(2), "C library/kernel differences"); elsewhere, and without
 * /proc, nothing is changed.
 * @returns the number of threads whose priority was lowered
 */
export async function lowerThreadPoolPriority(priority = PRIORITY_BELOW_NORMAL): Promise<number> {
  if (process.platform !== "linux") return 0;
  // The pool starts with its first task.
  await promisify(randomBytes)(1);
  try {
    const threads = await readdir(TASKS);
    const names = await Promise.all(threads.map((thread) => readFile(`${TASKS}/${thread}/comm`, "utf8")));
    const pool = threads.filter((_thread, at) => POOL_THREAD.test(names[at] ?? ""));
    for (const thread of pool) os.setPriority(Number(thread), priority);
    return pool.length;
  } catch {
    return 0;
  }
}
