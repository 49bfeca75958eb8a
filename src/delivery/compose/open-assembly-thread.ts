/**
 * Assembles large messages in a separate thread, one after the other: a text of two million characters, or 20 MB of
 * attachments, takes some tenths of a second.
 */
import { createWorkerThread, type WorkerThreadLimits } from "#platform/process/worker-thread.ts";
import type { Assembled, Complete, Parts } from "./assemble-mime.ts";

/** The message for the thread to assemble, with its texts as strings. */
export type Assignment =
  | Complete
  | (Omit<Parts, "html" | "text"> & { readonly html: string | null; readonly text: string | null });

export type AssemblyAnswer =
  | { readonly ok: true; readonly message: Uint8Array<ArrayBuffer>; readonly smtpUtf8: boolean }
  /** The message cannot be assembled; the thread keeps running. */
  | { readonly ok: false; readonly fault: string };

export interface AssemblyThread {
  /** @throws an Error when the message cannot be assembled, or takes too long or too much memory */
  assemble(mail: Parts | Complete): Promise<Assembled>;
  close(): Promise<void>;
}

/** Far more than the largest message takes, even on a busy machine. */
const LIMITS: WorkerThreadLimits = { deadlineMs: 60_000, heapMb: 512 };

/** @param module the thread: answers each Assignment with an AssemblyAnswer */
export function openAssemblyThread(module: URL, limits: WorkerThreadLimits = LIMITS): AssemblyThread {
  const thread = createWorkerThread<Assignment, AssemblyAnswer>(module, limits);
  return {
    async assemble(mail) {
      const answer = await thread.ask(assignmentOf(mail));
      if (!answer.ok) throw new Error(`a message could not be assembled: ${answer.reason}`);
      if (!answer.answer.ok) throw new Error(answer.answer.fault);
      const { message, smtpUtf8 } = answer.answer;
      return { message: Buffer.from(message.buffer, message.byteOffset, message.byteLength), smtpUtf8 };
    },
    close: () => thread.close(),
  };
}

function assignmentOf(mail: Parts | Complete): Assignment {
  if ("raw" in mail) return mail;
  const { html, text } = mail;
  return { ...mail, html: html && String(html), text: text && String(text) };
}
