/** Pages of people: the ids of a page and the total. */

import type { Page } from "#platform/database/page.ts";
import type { PageAnchors } from "#platform/database/page-anchors.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { countMembers, countPeople, totalInStatus } from "./memberships/counters.ts";
import { listAnchors, listIdsAfter, listIdsAt, type SubscriberFilter, searchIds } from "./page-store.ts";

export interface PageQuery extends Page {
  readonly search: string | undefined;
}

/**
 * The ids of a page, newest person first. Without a search the total comes from the counters, and the last page is as
 * fast as the first. A search counts and pages through its results, at most MOST_FOUND.
 */
export async function findSubscriberPage(
  db: Queryable,
  anchors: PageAnchors,
  workspaceId: WorkspaceId,
  audience: SubscriberFilter,
  { search, ...query }: PageQuery,
): Promise<{ ids: string[]; total: number }> {
  const { limit, offset, after } = query;
  const { mailingListId, status } = audience;
  if (search !== undefined) {
    return searchIds(db, workspaceId, audience, search, query);
  }
  const counts =
    mailingListId === null
      ? await countPeople(db, workspaceId)
      : await countMembers(db, workspaceId, mailingListId);
  const total = totalInStatus(counts, status);
  if (after !== undefined) return { ids: await listIdsAfter(db, workspaceId, audience, after, limit), total };
  if (offset >= total) return { ids: [], total };
  const order = `${workspaceId} ${mailingListId} ${status}`;
  const readAnchors = () => listAnchors(db, workspaceId, audience);
  const start = await anchors.find(order, counts.revision, offset, readAnchors);
  return { ids: await listIdsAt(db, workspaceId, audience, start, limit), total };
}
