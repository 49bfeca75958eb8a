/**
 * Runs first in every side thread: lowers the thread's priority, so that on a busy machine the event loop goes first,
 * and loads the thread's module.
 */
import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { workerData } from "node:worker_threads";

/** A thread with it gets a quarter of what others get on a processor that they share, so that its deadlines hold. */
const NICE = 5;

try {
  // "<process>/task/<thread>". Linux takes the number of a thread where POSIX takes that of a process.
  const thread = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
  setPriority(thread, NICE);
} catch {
  // Other systems name no threads: the priority stays.
}

await import(workerData.module);
