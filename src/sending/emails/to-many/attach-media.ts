/**
 * Reads the pictures that the mails of a request attach. A request of a hundred bytes can name 20 MB, so requests that name
 * pictures take turns, and the pictures of one request are bounded before any is read.
 */
import { createWorkspaceLimiter, type KeyedLimiter } from "#platform/concurrency.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { invalid } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { MOST_ATTACHED_BYTES, MOST_ATTACHMENTS } from "#sending/emails/read-attachments.ts";
import { listMediaContents, listMediaFiles } from "#sending/media/store.ts";
import type { AttachedPictures, MailAttachment } from "./mail-attachment.ts";

/** A mail as far as it attaches files. */
interface MailWithFiles {
  readonly attachments?: readonly MailAttachment[] | null;
}

/** Different pictures of a request. */
const MOST_PICTURES = 500;
const BOUNDS = { concurrency: 2, maxWaiting: 100, maxWaitMs: 10_000 };

export class MediaAttachments {
  readonly #db: Queryable;
  readonly #takeTurn: KeyedLimiter<string> = createWorkspaceLimiter(
    BOUNDS,
    "Too many mails with pictures by media_id at a time: send fewer requests at a time",
  );

  constructor(db: Queryable) {
    this.#db = db;
  }

  /**
   * Runs `work` with the pictures that the mails of a request attach. Ids that the workspace does not have are missing.
   * @param field named when the pictures are too large
   * @throws ApiError VALIDATION_ERROR, RATE_LIMIT_EXCEEDED
   */
  async attach<Result>(
    workspaceId: WorkspaceId,
    mails: readonly MailWithFiles[],
    field: "attachments" | "emails",
    work: (pictures: AttachedPictures) => Promise<Result>,
  ): Promise<Result> {
    // A mail with more files is refused for them (read-attachments.ts).
    const few = mails.flatMap(({ attachments }) =>
      attachments == null || attachments.length > MOST_ATTACHMENTS ? [] : attachments,
    );
    const named = few.flatMap(({ media_id }) => media_id ?? []);
    if (named.length === 0) return work(new Map());
    return this.#takeTurn(workspaceId, async () => work(await this.#read(workspaceId, named, field)));
  }

  async #read(workspaceId: WorkspaceId, named: readonly string[], field: string): Promise<AttachedPictures> {
    const uses = Map.groupBy(named, (id) => id.toLowerCase());
    const ids = [...uses.keys()];
    if (ids.length > MOST_PICTURES) {
      throw invalid({
        field,
        message: `${field} may name at most ${MOST_PICTURES} different pictures by media_id`,
      });
    }
    const files = await listMediaFiles(this.#db, workspaceId, ids);
    const bytes = files.reduce((sum, { id, bytes: each }) => sum + each * (uses.get(id)?.length ?? 0), 0);
    if (bytes > MOST_ATTACHED_BYTES) {
      const most = MOST_ATTACHED_BYTES / 1024 ** 2;
      const message = `${field} may have at most ${most} MB of pictures by media_id in all: attach fewer, or send several requests`;
      throw invalid({ field, message });
    }
    const contents = await listMediaContents(this.#db, workspaceId, ids);
    const byId = new Map(files.map((file) => [file.id, file]));
    return new Map(
      contents.flatMap(({ id, content: octets }) => {
        const file = byId.get(id);
        return file === undefined ? [] : [[id, { ...file, content: octets.toString("base64") }] as const];
      }),
    );
  }
}
