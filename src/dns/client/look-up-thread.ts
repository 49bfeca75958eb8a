/** The worker thread of a process for DNS look-ups: it reads answers even while the event loop is busy. */
import { parentPort } from "node:worker_threads";
import type { LookUpAnswer, LookUpRequest } from "./cached-look-ups.ts";
import { DnsClient } from "./client.ts";

const client = new DnsClient();
let answered: LookUpAnswer[] = [];

parentPort?.on("message", (questions: readonly LookUpRequest[]) => {
  for (const { id, question } of questions) {
    void client.ask(question).then((reply) => {
      if (answered.length === 0) setImmediate(tell);
      answered.push({ id, reply });
    });
  }
});

/** Sends all answers of one iteration of the event loop as one message. */
function tell(): void {
  parentPort?.postMessage(answered);
  answered = [];
}
