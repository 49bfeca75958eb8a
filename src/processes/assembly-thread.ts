/** A worker thread of the delivery process that assembles large messages (delivery/compose/open-assembly-thread.ts). */
import { parentPort } from "node:worker_threads";
import { assemble } from "#delivery/compose/assemble-mime.ts";
import type { AssemblyAnswer, Assignment } from "#delivery/compose/open-assembly-thread.ts";
import { trackMail } from "#tracking/add-tracking.ts";

parentPort?.on("message", (mail: Assignment) => {
  void answerTo(mail).then((answer) => {
    parentPort?.postMessage(answer, answer.ok ? [answer.message.buffer] : []);
  });
});

async function answerTo(mail: Assignment): Promise<AssemblyAnswer> {
  try {
    const { message, smtpUtf8 } = await assemble(withBuffers(mail), trackMail);
    return { ok: true, message: movable(message), smtpUtf8 };
  } catch (fault) {
    return { ok: false, fault: fault instanceof Error ? fault.message : String(fault) };
  }
}

/** Buffers arrive as plain arrays of octets. */
function withBuffers(mail: Assignment): Assignment {
  if ("raw" in mail || typeof mail.attachments === "string") return mail;
  const attachments = mail.attachments.map(({ encoded, ...rest }) => ({
    ...rest,
    encoded: Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength),
  }));
  return { ...mail, attachments };
}

/** Makes the message transferable to another thread: copies it unless it fills its ArrayBuffer. */
function movable(message: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = message;
  const isWhole = buffer instanceof ArrayBuffer && byteOffset === 0 && byteLength === buffer.byteLength;
  return isWhole ? new Uint8Array(buffer) : new Uint8Array(message);
}
