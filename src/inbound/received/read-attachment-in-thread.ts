/**
 * Decodes an attachment of a received mail in a worker thread: the whole mail has to be parsed for it. A workspace has one
 * download at a time, so that workspaces take turns: each waits for one download of every other workspace at most.
 */
import { createWorkspaceLimiter } from "#platform/concurrency.ts";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { createWorkerThread } from "#platform/process/worker-thread.ts";

export interface AttachmentQuestion {
  readonly raw: Uint8Array;
  /** The place of the attachment in the mail, from 0. */
  readonly place: number;
}

/**
 * Null: the mail has no attachment at this place, or is gone.
 * @param load reads the source of the mail; called when it is its turn
 */
export type ReadAttachment = (
  workspaceId: WorkspaceId,
  load: () => Promise<Buffer | undefined>,
  place: number,
) => Promise<Uint8Array | null>;

const GONE = { ok: true, answer: null } as const;
const LIMITS = { deadlineMs: 20_000, heapMb: 512 };
const BOUNDS = { concurrency: 1, maxWaiting: 20, maxWaitMs: 20_000 };

/**
 * @throws ApiError from the returned function: CONFLICT for a mail that cannot be parsed within the limits,
 *   RATE_LIMIT_EXCEEDED when too many downloads of the workspace wait
 */
export function attachmentReader(): ReadAttachment {
  const module = new URL("attachment-thread.ts", import.meta.url);
  const thread = createWorkerThread<AttachmentQuestion, Uint8Array | null>(module, LIMITS);
  const takeTurn = createWorkspaceLimiter(BOUNDS, "Too many attachments are being downloaded: retry shortly");
  return async (workspaceId, load, place) => {
    const answer = await takeTurn(workspaceId, async () => {
      const raw = await load();
      return raw === undefined ? GONE : thread.ask({ raw, place });
    });
    if (answer.ok) return answer.answer;
    throw new ApiError(
      "CONFLICT",
      "The mail takes too long to parse: download its source, which is not parsed",
    );
  };
}
