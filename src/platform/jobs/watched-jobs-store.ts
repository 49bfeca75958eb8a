/** The jobs of many workspaces in one statement, for people who watch them. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import {
  identityColumns,
  isOpen,
  type JobIdentity,
  type JobStatus,
  KEPT_JOB_DAYS,
} from "./job-record-store.ts";

/** A job as it is shown while people watch it. */
export interface WatchedJob extends JobIdentity {
  readonly workspace_id: WorkspaceId;
  readonly id: string;
  readonly type: string;
  readonly status: JobStatus;
  readonly permission: string;
  readonly total: number | null;
  readonly processed: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly skipped: number;
  readonly completed_at: Date | null;
}

/** How long an ended job is still watched. */
export const WATCHED_MINUTES = 10;

/** The newest open jobs of each workspace, and the newest that have ended lately, at most `most` of both. */
export function listWatchedJobs(
  db: Queryable,
  workspaceIds: readonly WorkspaceId[],
  most: number,
): Promise<WatchedJob[]> {
  const shown = sql`workspace_id, id, type, ${identityColumns}, status, permission, total, processed, succeeded, failed, skipped, completed_at`;
  // Ended jobs expire in the order in which they ended, and have an index for it.
  return db.rows(
    sql`
    select j.* from unnest(${[...workspaceIds]}::uuid[]) as w (workspace_id)
    cross join lateral (
      (select ${shown} from jobs j where j.workspace_id = w.workspace_id and ${isOpen} order by id desc limit ${most})
      union all
      (select ${shown} from jobs j
      where j.workspace_id = w.workspace_id and j.status in ('completed', 'failed', 'cancelled')
        and j.expires_at > now() + make_interval(days => ${KEPT_JOB_DAYS}, mins => ${-WATCHED_MINUTES})
      order by j.expires_at desc limit ${most})) j
    order by j.workspace_id, j.id desc`,
    "watched jobs",
  );
}
