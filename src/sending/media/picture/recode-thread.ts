/** The worker thread of recode-in-thread.ts. */
import { answerQuestions } from "#platform/process/answer-questions.ts";
import { PictureFault } from "./picture.ts";
import { type RecodeAnswer, recodePicture } from "./recode-picture.ts";

answerQuestions(async (file: Uint8Array): Promise<RecodeAnswer> => {
  try {
    return { ok: true, ...(await recodePicture(Buffer.from(file.buffer, file.byteOffset, file.byteLength))) };
  } catch (fault) {
    if (fault instanceof PictureFault) return { ok: false, fault: fault.message };
    throw fault;
  }
});
