/** The worker thread of read-large-in-thread.ts. */
import { hash } from "node:crypto";
import { parentPort } from "node:worker_threads";
import { SmtpReply } from "#inbound/listener/smtp-reply.ts";
import type { GivenSubmission, ReadAnswer } from "./read-large-in-thread.ts";
import { readSubmission } from "./read-submission.ts";

parentPort?.on("message", ({ message, context }: GivenSubmission) => {
  const reading = readGiven(message, context);
  const moved = reading.ok && reading.raw.buffer instanceof ArrayBuffer ? [reading.raw.buffer] : [];
  parentPort?.postMessage(reading, moved);
});

function readGiven(message: Uint8Array<ArrayBuffer>, context: GivenSubmission["context"]): ReadAnswer {
  const octets = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  try {
    // First, because the result may share the buffer of the message and move it.
    const digest = hash("sha256", octets);
    const { raw, ...read } = readSubmission(octets, context);
    return { ok: true, read, raw, digest };
  } catch (fault) {
    if (!(fault instanceof SmtpReply)) throw fault;
    return { ok: false, code: fault.responseCode, enhanced: fault.enhanced, text: fault.text };
  }
}
