/** Pages of people: the ids of a page and the total. */

import { AsyncCache } from "#platform/cache.ts";
import { createWorkspaceLimiter, QUERY_BOUNDS } from "#platform/concurrency.ts";
import type { Page } from "#platform/database/page.ts";
import type { PageAnchors } from "#platform/database/page-anchors.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import {
  countSelected,
  findByTimes,
  limitStatements,
  listByEmail,
  listSelected,
  MOST_COUNTED,
  type PeopleSelection,
  type SortedId,
} from "./filtered-people-store.ts";
import { countMembers, countPeople, totalInStatus } from "./memberships/counters.ts";
import { listAnchors, listIdsAfter, listIdsAt, type SubscriberFilter, searchIds } from "./page-store.ts";
import { isUnfiltered, type PersonOrder } from "./person-filter.ts";
import { type PeopleTotal, searchTotal } from "./search-conditions.ts";

export interface PageQuery extends Page {
  readonly search: string | undefined;
}

/** How long totals of filters are cached while no one joins or leaves: a page later they need not be counted again. */
const FRESH_MS = 15_000;
const MOST_TOTALS = 200;
/** Time limit of a statement with filters. */
const MOST_MS = 5_000;
const QUERY_CANCELED = "57014";

/** Leaves the other connections of the pool to other work. */
const takeTurn = createWorkspaceLimiter(
  QUERY_BOUNDS,
  "Too many filtered lists of people of this workspace are waiting: ask for fewer at the same time",
);

/** Pages of people who meet criteria, or in another order than newest first. */
export class SelectedPages {
  readonly #db: Database;
  readonly #totals = new AsyncCache<PeopleTotal>({ ms: FRESH_MS, most: MOST_TOTALS });

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * The total is that of the filter now, or some seconds ago, up to a maximum; pages beyond it can be read.
   * @throws ApiError BAD_REQUEST when a filter takes too long
   */
  async find(
    workspaceId: WorkspaceId,
    selection: PeopleSelection,
    order: PersonOrder,
    page: Page,
  ): Promise<{ people: SortedId[]; total: PeopleTotal }> {
    const { mailingListId, status, search, filter } = selection;
    const isAll = search === undefined && isUnfiltered(filter);
    const counts =
      mailingListId === null
        ? await countPeople(this.#db, workspaceId)
        : await countMembers(this.#db, workspaceId, mailingListId);
    const question = JSON.stringify([workspaceId, counts.revision, selection]);
    const allPeople = totalInStatus(counts, undefined);
    const total = isAll
      ? { total: totalInStatus(counts, status), isExact: true }
      : await this.#totals.get(question, () =>
          this.#inTime(workspaceId, async (tx) =>
            countSelected(tx, workspaceId, selection, allPeople, await findByTimes(tx, workspaceId, filter)),
          ),
        );
    const isBehindAll = page.offset >= total.total && (total.isExact || search !== undefined);
    if (page.after === undefined && isBehindAll) return { people: [], total };
    const isByEmail = order === "email" || order === "-email";
    const areMany = !total.isExact || total.total > MOST_COUNTED;
    const people = await this.#inTime(workspaceId, async (tx) =>
      isByEmail && isAll && mailingListId === null && status === undefined && page.after === undefined
        ? listByEmail(tx, workspaceId, order, page)
        : listSelected(tx, workspaceId, selection, order, page, {
            byTimes: await findByTimes(tx, workspaceId, filter),
            areMany,
          }),
    );
    return { people, total };
  }

  #inTime<Result>(workspaceId: WorkspaceId, work: (tx: Queryable) => Promise<Result>): Promise<Result> {
    return takeTurn(workspaceId, async () => {
      try {
        return await this.#db.transaction(async (tx) => {
          await limitStatements(tx, MOST_MS);
          return work(tx);
        });
      } catch (fault) {
        if (!(fault instanceof Error && "code" in fault && fault.code === QUERY_CANCELED)) throw fault;
        const message = "This filter takes too long on so many people: narrow it, or go on with next_cursor";
        throw new ApiError("BAD_REQUEST", message);
      }
    });
  }
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
): Promise<{ ids: string[]; total: PeopleTotal }> {
  const { limit, offset, after } = query;
  const { mailingListId, status } = audience;
  if (search !== undefined) {
    const { ids, total } = await searchIds(db, workspaceId, audience, search, query);
    return { ids, total: searchTotal(total) };
  }
  const counts =
    mailingListId === null
      ? await countPeople(db, workspaceId)
      : await countMembers(db, workspaceId, mailingListId);
  const total = { total: totalInStatus(counts, status), isExact: true };
  if (after !== undefined) return { ids: await listIdsAfter(db, workspaceId, audience, after, limit), total };
  if (offset >= total.total) return { ids: [], total };
  const order = `${workspaceId} ${mailingListId} ${status}`;
  const readAnchors = () => listAnchors(db, workspaceId, audience);
  const start = await anchors.find(order, counts.revision, offset, readAnchors);
  return { ids: await listIdsAt(db, workspaceId, audience, start, limit), total };
}
