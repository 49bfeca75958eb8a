import { describeAudit } from "#platform/audit/pending-event.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { notFound } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { findOldestWorkspaceIds, findWorkspace } from "#workspace/workspaces/store.ts";

/**
 * The workspace that a command is about: that of its option --workspace, or the only one of the installation.
 * @throws ApiError NOT_FOUND if it does not exist; Error that says what to do if there is none, or more than one
 */
export async function chooseWorkspace(db: Queryable, asked: WorkspaceId | undefined): Promise<WorkspaceId> {
  if (asked !== undefined) {
    if ((await findWorkspace(db, asked)) === undefined) throw notFound("Workspace");
    return asked;
  }
  const [only, other] = await findOldestWorkspaceIds(db, 2);
  if (only === undefined) {
    throw new Error("there is no workspace yet: start the service, or run `workspace create --name NAME`");
  }
  if (other !== undefined) {
    throw new Error(
      "there are several workspaces: add --workspace ID; `npm run -s posthaste -- workspace list` shows their ids",
    );
  }
  describeAudit({ workspaceId: only });
  return only;
}
