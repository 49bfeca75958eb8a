/**
 * Writes pictures again in a thread, so that a large one delays no other request. A workspace has one picture in the thread or
 * waiting for it, so that workspaces take turns, and its file is read when it is the workspace's turn, so that many uploads take
 * no more memory than one.
 */
import { createWorkspaceLimiter, type KeyedLimiter } from "#platform/concurrency.ts";
import { ApiError, invalid, overloaded } from "#platform/errors.ts";
import { createWorkerThread, type WorkerThread } from "#platform/process/worker-thread.ts";
import { damaged } from "./picture.ts";
import { DECODER_FAILED, type RecodeAnswer, type RecodedPicture } from "./recode-picture.ts";

/** The largest pictures take some four seconds, and several times that on a busy machine. */
const LIMITS = { deadlineMs: 30_000, heapMb: 256 };
const BOUNDS = { concurrency: 1, maxWaiting: 20, maxWaitMs: 30_000 };

export class PictureRecoder {
  readonly #thread: WorkerThread<Uint8Array, RecodeAnswer> = createWorkerThread(
    new URL("recode-thread.ts", import.meta.url),
    LIMITS,
  );

  /** Runs `work`, which calls `recode`, when it is the turn of the workspace. @throws ApiError RATE_LIMIT_EXCEEDED */
  readonly takeTurn: KeyedLimiter<string> = createWorkspaceLimiter(
    BOUNDS,
    "Too many pictures of this workspace are being uploaded: send fewer at a time",
  );

  /**
   * @throws ApiError VALIDATION_ERROR for the field `file`, BAD_REQUEST for a picture that takes too much memory, 503 for one
   *   that takes too long
   */
  async recode(file: Uint8Array): Promise<RecodedPicture> {
    const answer = await this.#thread.ask(file).catch((fault: unknown) => {
      // The thread has ended, and so has the memory of the decoder.
      if (fault instanceof Error && fault.message === DECODER_FAILED) throw refused(damaged().message);
      throw fault;
    });
    if (!answer.ok && answer.reason === "too_slow") {
      throw overloaded("The picture could not be read in time: try again, or scale it down first");
    }
    if (!answer.ok)
      throw new ApiError("BAD_REQUEST", "The picture takes too much memory: scale it down first");
    if (!answer.answer.ok) throw refused(answer.answer.fault);
    return answer.answer;
  }
}

function refused(message: string): ApiError {
  return invalid({ field: "file", message });
}
