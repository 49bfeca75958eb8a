/**
 * Assembles large messages in a thread beside the event loop, one after the other: a text of two million characters
 * takes some tenths of a second, and files of 20 MB as long.
 */
import { createWorkerThread, type WorkerThreadLimits } from "#platform/process/worker-thread.ts";
import type { Assembled, Complete, Parts } from "./assemble.ts";

/** What the thread is asked to assemble. Its texts are strings: what several messages share stays where it is. */
export type Assignment =
  | Complete
  | (Omit<Parts, "html" | "text"> & { readonly html: string | null; readonly text: string | null });

export type AssemblyAnswer =
  | { readonly ok: true; readonly message: Uint8Array<ArrayBuffer>; readonly smtpUtf8: boolean }
  /** The message cannot be assembled; the thread goes on. */
  | { readonly ok: false; readonly fault: string };

export interface AssemblyLine {
  /** @throws an Error when the message cannot be assembled, or takes too long or too much memory */
  assemble(mail: Parts | Complete): Promise<Assembled>;
  close(): Promise<void>;
}

/** Far more than the largest message takes, on a busy machine too. */
const LIMITS: WorkerThreadLimits = { deadlineMs: 60_000, heapMb: 512 };

/** @param module the thread: answers each Assignment with an AssemblyAnswer */
export function openAssemblyLine(module: URL, limits: WorkerThreadLimits = LIMITS): AssemblyLine {
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
