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

interface NamedNotice extends FoundNotice {
  /** Names the workspace as well (noticeId). */
  readonly id: string;
}

/** A notice with the permission that callers need to see it. */
export interface GuardedNotice {
  readonly permission: string;
  readonly notice: Notice;
}

/** What decides whether a caller sees a notice, and whether it is among the newest. */
export interface RankedNotice {
  readonly permission: string;
  readonly notice: Pick<Notice, "id" | "kind" | "since">;
}

export interface SeenNotices<One extends RankedNotice> {
  /** In the order in which they were given. */
  readonly notices: readonly One[];
  /** Kinds that have more notices than these. */
  readonly incomplete: readonly NoticeKind[];
}

export interface NoticeDeps {
  readonly db: Queryable;
  readonly plans: Plans;
  /** The read permissions of the nouns that have jobs, each once. */
  readonly jobPermissions: readonly string[];
}

const sourceByKind = new Map(noticeSources.flatMap((source) => source.kinds.map((kind) => [kind, source])));

/**
 * The notices that a caller with these permissions sees: of each source the newest, at most MOST_OF_SOURCE.
 * @param all as readNotices reads them, dismissed ones included
 */
export function noticesSeenBy<One extends RankedNotice>(
  permissions: readonly string[],
  all: readonly One[],
): SeenNotices<One> {
  const visible = visibleJobs(permissions);
  const seesJobs = (permission: string) => visible === null || visible.includes(permission);
  const sees = (permission: string) => missingPermissions(permissions, [permission]).length === 0;
  const seen = all.filter(({ permission, notice: { kind } }) =>
    kind === "job_failed" ? seesJobs(permission) : sees(permission),
  );
  const left = new Set<One>();
  const incomplete: NoticeKind[] = [];
  for (const [source, ofSource] of Map.groupBy(seen, ({ notice }) => sourceByKind.get(notice.kind))) {
    if (ofSource.length <= MOST_OF_SOURCE) continue;
    incomplete.push(...(source?.kinds ?? []));
    for (const one of ofSource.toSorted(byAge).slice(MOST_OF_SOURCE)) left.add(one);
  }
  return { notices: left.size === 0 ? seen : seen.filter((one) => !left.has(one)), incomplete };
}

/**
 * The notices of each workspace, dismissed ones included, the worst and newest first: for any caller enough to find out by
 * noticesSeenBy which it sees. One statement for each source, whatever the number of workspaces.
 * @param permissions of the only caller: sources that it may not see are not read; undefined for several callers
 */
export async function readNotices(
  { db, plans, jobPermissions: all }: NoticeDeps,
  workspaceIds: readonly WorkspaceId[],
  now: Date,
  permissions?: readonly string[],
): Promise<ReadonlyMap<WorkspaceId, readonly GuardedNotice[]>> {
  const visible = permissions === undefined ? null : visibleJobs(permissions);
  const jobPermissions = visible === null ? all : all.filter((one) => visible.includes(one));
  // One more than are shown, to know whether there are more.
  const look = { db, plans, workspaceIds, most: MOST_OF_SOURCE + 1, now, jobPermissions };
  const found: NamedNotice[] = [];
  for (const source of noticeSources) {
    const needed = source.permission === null ? [] : [source.permission];
    if (permissions !== undefined && missingPermissions(permissions, needed).length > 0) continue;
    found.push(...(await source.find(look)).map((one) => ({ ...one, id: noticeId(one) })));
  }
  const rows = found.length === 0 ? [] : await listDismissals(db, found);
  const dismissals = new Map(rows.map((row) => [row.notice_id, row]));
  const byWorkspace = Map.groupBy(found, ({ workspaceId }) => workspaceId);
  return new Map(
    workspaceIds.map((id) => {
      const ofWorkspace = byWorkspace.get(id) ?? [];
      return [id, ofWorkspace.map((one) => guardedNotice(one, dismissals.get(one.id))).toSorted(byUrgency)];
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

function byUrgency(one: GuardedNotice, other: GuardedNotice): number {
  const rank = ({ notice: { severity } }: GuardedNotice) => noticeSeverities.indexOf(severity);
  return rank(one) - rank(other) || byAge(one, other);
}

/** The newest first. */
export function byAge({ notice: a }: RankedNotice, { notice: b }: RankedNotice): number {
  return (
    (b.since?.getTime() ?? 0) - (a.since?.getTime() ?? 0) ||
    noticeKinds.indexOf(a.kind) - noticeKinds.indexOf(b.kind) ||
    a.id.localeCompare(b.id)
  );
}
