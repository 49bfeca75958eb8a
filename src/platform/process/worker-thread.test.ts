import { getPriority } from "node:os";
import { afterEach, expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { createWorkerThread, type WorkerThread, type WorkerThreadLimits } from "./worker-thread.ts";

/** Answers with its number of questions so far, or does what it is told. */
const MODULE = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { getPriority } from "node:os";
    import { readlinkSync } from "node:fs";
    import { parentPort } from "node:worker_threads";
    let asked = 0;
    const told = {
      spin: () => { for (;;); },
      fill: () => { const kept = []; for (;;) kept.push(new Array(100_000).fill({})); },
      nice: () => getPriority(Number(readlinkSync("/proc/thread-self").split("/").at(-1))),
      fail: () => { throw new Error("no such word"); },
    };
    parentPort.on("message", (word) => {
      asked += 1;
      const found = told[word]?.();
      parentPort.postMessage([found ?? word.length, asked]);
    });
  `)}`,
);
const threads: WorkerThread<unknown, unknown>[] = [];

function open(limits: Partial<WorkerThreadLimits> = {}) {
  const thread = createWorkerThread<unknown, unknown>(MODULE, { deadlineMs: 60_000, heapMb: 32, ...limits });
  threads.push(thread);
  return thread;
}

afterEach(async () => {
  await Promise.all(threads.splice(0).map((thread) => thread.close()));
});

test("questions are answered in their order, by one thread", async () => {
  const thread = open();
  const answers = await Promise.all(["a", "bb", "ccc"].map((word) => thread.ask(word)));
  expect(answers).toEqual([1, 2, 3].map((number) => ({ ok: true, answer: [number, number] })));
});

test("a question without end is given up, and the next one is answered", async () => {
  const thread = open({ deadlineMs: 3_000 });
  expect(await thread.ask("spin")).toEqual({ ok: false, reason: "too_slow" });
  expect(await thread.ask("next")).toEqual({ ok: true, answer: [4, 1] });
});

test("a question that takes all memory is given up, and the next one is answered", async () => {
  const thread = open();
  expect(await thread.ask("fill")).toEqual({ ok: false, reason: "too_large" });
  expect(await thread.ask("next")).toEqual({ ok: true, answer: [4, 1] });
});

test("an error of the module rejects the question, and the next question is answered", async () => {
  const thread = open();
  await expect(thread.ask("fail")).rejects.toThrow("no such word");
  expect(await thread.ask("next")).toEqual({ ok: true, answer: [4, 1] });
});

test.runIf(process.platform === "linux")("a thread has a lower priority than the event loop", async () => {
  expect(await open().ask("nice")).toEqual({ ok: true, answer: [getPriority() + 5, 1] });
});

test("an idle thread is terminated, and the next question starts another", async () => {
  const thread = open({ idleMs: 1 });
  expect(await thread.ask("a")).toEqual({ ok: true, answer: [1, 1] });
  await eventually("the next question to be a new thread's first", async () => {
    const answer = await thread.ask("a");
    return answer.ok && JSON.stringify(answer.answer) === "[1,1]";
  });
});

test("a closed thread accepts no question, and its current one is aborted", async () => {
  const thread = open();
  const spinning = thread.ask("spin");
  const over = expect(spinning).rejects.toThrow();
  await thread.close();
  await over;
  await expect(thread.ask("next")).rejects.toThrow();
});
