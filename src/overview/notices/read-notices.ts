/** Reads the notices of workspaces, and says which of them a caller may see. */
import type { Queryable } from "#platform/database/pool.ts";
import { missingPermissions } from "#platform/http/authenticate.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { visibleJobs } from "#platform/jobs/visible-jobs.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import { type Dismissal, listDismissals } from "./dismissals-store.ts";
import {
  type FoundNotice,
  type Notice,
  type NoticeKind,
  noticeId,
  noticeKinds,
  noticeSeverities,
} from "./notice.ts";
import { noticeSources } from "./notice-sources.ts";

/** The most notices of a source, such as webhooks, for each workspace. */
export const MOST_OF_SOURCE = 50;

/** A notice with the permission that callers need to see it. */
export interface GuardedNotice {
  readonly permission: string;
  readonly notice: Notice;
}

export interface WorkspaceNotices {
  /** The worst and newest first. */
  readonly notices: readonly GuardedNotice[];
  /** Kinds that have more notices than these. */
  readonly incomplete: readonly NoticeKind[];
}

interface NamedNotice extends FoundNotice {
  /** Names the workspace as well (noticeId). */
  readonly id: string;
}

interface Dependencies {
  readonly db: Queryable;
  readonly plans: Plans;
}

/** The notices of a source that a caller with these permissions may see, or has for some resources. */
function maySee(
  permission: string | null,
  kinds: readonly NoticeKind[],
  permissions: readonly string[],
): boolean {
  if (!kinds.includes("job_failed")) {
    return permission !== null && missingPermissions(permissions, [permission]).length === 0;
  }
  const visible = visibleJobs(permissions);
  return visible === null || (permission === null ? visible.length > 0 : visible.includes(permission));
}

/** Whether a caller with these permissions may see a notice. */
export function maySeeNotice(
  { permission, notice: { kind } }: { readonly permission: string; readonly notice: Pick<Notice, "kind"> },
  permissions: readonly string[],
): boolean {
  return maySee(permission, [kind], permissions);
}

/**
 * The notices of each workspace, dismissed ones included. One statement for each source, whatever the number of workspaces.
 * @param permissions of the caller: sources that it may not see are not read, and have no notices; undefined for all
 */
export async function readNotices(
  { db, plans }: Dependencies,
  workspaceIds: readonly WorkspaceId[],
  now: Date,
  permissions?: readonly string[],
): Promise<ReadonlyMap<WorkspaceId, WorkspaceNotices>> {
  const jobPermissions = permissions === undefined ? null : visibleJobs(permissions);
  const look = { db, plans, workspaceIds, most: MOST_OF_SOURCE + 1, now, jobPermissions };
  const found = new Map<WorkspaceId, { notices: NamedNotice[]; incomplete: NoticeKind[] }>(
    workspaceIds.map((id) => [id, { notices: [], incomplete: [] }]),
  );
  for (const source of noticeSources) {
    const { kinds, permission } = source;
    if (permissions !== undefined && !maySee(permission, kinds, permissions)) continue;
    for (const [workspaceId, ofSource] of Map.groupBy(await source.find(look), (one) => one.workspaceId)) {
      const known = found.get(workspaceId);
      const named = ofSource.slice(0, MOST_OF_SOURCE).map((one) => ({ ...one, id: noticeId(one) }));
      known?.notices.push(...named);
      if (ofSource.length > MOST_OF_SOURCE) known?.incomplete.push(...kinds);
    }
  }
  const all = [...found.values()].flatMap(({ notices }) => notices);
  const rows = all.length === 0 ? [] : await listDismissals(db, all);
  const dismissals = new Map(rows.map((row) => [row.notice_id, row]));
  return new Map(
    [...found].map(([workspaceId, { notices, incomplete }]) => {
      const guarded = notices.map((one) => guardedNotice(one, dismissals.get(one.id))).toSorted(byUrgency);
      const seen = guarded.filter((one) => permissions === undefined || maySeeNotice(one, permissions));
      return [workspaceId, { notices: seen, incomplete }];
    }),
  );
}

function guardedNotice(found: NamedNotice, dismissal: Dismissal | undefined): GuardedNotice {
  const { workspaceId: _, permission, cause: _cause, ...shown } = found;
  return {
    permission,
    notice: {
      ...shown,
      dismissed_at: dismissal?.dismissed_at ?? null,
      dismissed_by: dismissal?.dismissed_by ?? null,
    },
  };
}

function byUrgency({ notice: a }: GuardedNotice, { notice: b }: GuardedNotice): number {
  return (
    noticeSeverities.indexOf(a.severity) - noticeSeverities.indexOf(b.severity) ||
    (b.since?.getTime() ?? 0) - (a.since?.getTime() ?? 0) ||
    noticeKinds.indexOf(a.kind) - noticeKinds.indexOf(b.kind) ||
    a.id.localeCompare(b.id)
  );
}
