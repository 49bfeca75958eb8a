/**
 * Entry of every worker thread: lowers its priority, so that the event loop goes first, loads its module, and says that it
 * runs.
 */
import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";

/** With this value a thread gets about a quarter of the share of others on a busy processor, enough for its deadlines. */
const NICE = 5;

try {
  // "<process>/task/<thread>". On Linux, setPriority accepts the id of a thread.
  const thread = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
  setPriority(thread, NICE);
} catch {
  // Other systems have no /proc/thread-self; the priority stays unchanged.
}

await import(workerData.module);
parentPort?.postMessage("runs");
