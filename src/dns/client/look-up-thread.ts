/** The thread in which a process looks things up: it reads answers while the event loop composes and sends. */
import { parentPort } from "node:worker_threads";
import { DnsClient } from "./client.ts";
import type { Answered, Asked } from "./look-ups.ts";

const client = new DnsClient();
let answered: Answered[] = [];

parentPort?.on("message", (questions: readonly Asked[]) => {
  for (const { id, question } of questions) {
    void client.ask(question).then((reply) => {
      if (answered.length === 0) setImmediate(tell);
      answered.push({ id, reply });
    });
  }
});

/** What has come in one turn of the loop travels as one message. */
function tell(): void {
  parentPort?.postMessage(answered);
  answered = [];
}
