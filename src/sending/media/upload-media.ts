/** Stores an uploaded picture: written again (picture/), once for each file of a workspace. */
import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Database } from "#platform/database/pool.ts";
import { requireBelowRowLimit } from "#platform/database/row-limit-store.ts";
import { ApiError } from "#platform/errors.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { type StorageDeps, withinBytes } from "#workspace/billing/storage-limit.ts";
import { LONGEST_NAME, readName } from "#workspace/read-display-name.ts";
import type { NewMedia } from "./media.ts";
import type { PictureRecoder } from "./picture/recode-in-thread.ts";
import { findMediaOfFile, insertMedia, type MediaRow, mediaRoom, type StoredPicture } from "./store.ts";

/** Attempts to store what other requests store and delete at the same time. */
const MOST_ATTEMPTS = 5;

export interface UploadDeps extends StorageDeps {
  readonly db: Database;
  readonly recoder: PictureRecoder;
}

export interface StoredUpload {
  readonly picture: MediaRow;
  /** Whether the same file was stored before. */
  readonly isDuplicate: boolean;
}

/**
 * @throws ApiError VALIDATION_ERROR for what is no picture or too large, PLAN_LIMIT_REACHED, BAD_REQUEST when the workspace
 *   has too many pictures, CONFLICT, RATE_LIMIT_EXCEEDED
 */
export async function uploadMedia(
  deps: UploadDeps,
  workspaceId: WorkspaceId,
  { file, name, alt_text }: NewMedia,
): Promise<StoredUpload> {
  const shownName = name === undefined ? nameOfFile(file.name) : readName(name);
  const altText = readAltText(alt_text ?? "");
  return deps.recoder.takeTurn(workspaceId, async () => {
    const octets = await readFile(file.path);
    const sourceSha256 = hash("sha256", octets, "buffer");
    const known = await findMediaOfFile(deps.db, workspaceId, sourceSha256);
    if (known !== undefined) return { picture: known, isDuplicate: true };
    const picture = await deps.recoder.recode(octets);
    const row = { ...picture, id: newId(), name: shownName, alt_text: altText, sourceSha256 };
    return insert(deps, workspaceId, { ...row, sha256: hash("sha256", picture.octets, "buffer") });
  });
}

async function insert(
  deps: UploadDeps,
  workspaceId: WorkspaceId,
  picture: StoredPicture,
): Promise<StoredUpload> {
  const { db, clock } = deps;
  for (let made = 0; made < MOST_ATTEMPTS; made += 1) {
    const stored = await db.transaction(async (tx) => {
      await requireBelowRowLimit(tx, workspaceId, mediaRoom);
      return withinBytes(deps, tx, workspaceId, () => insertMedia(tx, workspaceId, picture, clock.now()));
    });
    if (stored !== undefined) return { picture: stored, isDuplicate: false };
    // Another process has stored the same file meanwhile. Its picture may be deleted since.
    const known = await findMediaOfFile(db, workspaceId, picture.sourceSha256);
    if (known !== undefined) return { picture: known, isDuplicate: true };
  }
  throw new ApiError("CONFLICT", "Other requests keep storing and deleting this file: send this one again");
}

/** One line: it becomes an attribute of HTML. */
export function readAltText(text: string): string {
  return text.replaceAll(/\s+|\p{Cc}/gu, " ").trim();
}

/** The name that the file has on the machine of its sender, as a name for display. */
function nameOfFile(name: string): string {
  const shown = name
    .replaceAll(/\p{Cc}/gu, " ")
    .split(/[/\\]/)
    .at(-1)
    ?.trim()
    .slice(0, LONGEST_NAME)
    .toWellFormed();
  return shown || "Picture";
}
