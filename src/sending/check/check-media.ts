/** Findings about pictures of the workspace that a mail shows although they were deleted. The service itself is not asked for them. */
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { mediaLinksIn } from "#sending/media/media-link.ts";
import { listMediaFiles } from "#sending/media/store.ts";
import type { CheckFinding } from "./campaign-check.ts";
import { htmlFindings } from "./findings.ts";

/** @param html as its author wrote it */
export async function checkMedia(
  db: Queryable,
  workspaceId: WorkspaceId,
  html: string,
): Promise<CheckFinding[]> {
  const links = mediaLinksIn(html, workspaceId);
  if (links.length === 0) return [];
  const ids = [...new Set(links.map(({ id }) => id))];
  const stored = new Set((await listMediaFiles(db, workspaceId, ids)).map(({ id }) => id));
  return htmlFindings(
    html,
    links
      .filter(({ id }) => !stored.has(id))
      .map(({ path, at }) => ({
        severity: "error",
        code: "image_missing",
        at,
        message: `The picture ${path} was deleted.`,
        fix: "Choose another picture, or remove the image.",
        url: path,
      })),
  );
}
