/**
 * Pages of the members of a segment. On a small list each page is computed directly. On a large list, counting and deep
 * pages read all members, so the total, and ids where pages start, are cached for some seconds, until a person joins or
 * leaves a list. The people shown are members at the time of the request.
 */

import { hash } from "node:crypto";
import sql, { type Sql } from "sql-template-tag";
import { MOST_FOUND, searchConditions } from "#audience/subscribers/search-conditions.ts";
import { AsyncCache } from "#platform/cache.ts";
import type { Clock } from "#platform/clock.ts";
import type { Page } from "#platform/database/page.ts";
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Segmentation } from "./conditions/bound-rule.ts";
import { listSizes } from "./conditions/list-sizes-store.ts";
import { type ListConditions, openBinder } from "./conditions/load-and-bind.ts";
import {
  countMembersIn,
  findPageIn,
  findRevision,
  listEveryId,
  listIdsIn,
  membersRelation,
  withDeadline,
} from "./members-store.ts";

/** How long totals and page starts are cached while no one joins or leaves. */
const FRESH_MS = 15_000;
/** Segments in the cache. */
const MOST_SEGMENTS = 20;
const MOST_MS = 5_000;

const usualBounds = {
  /** Members of a list that can be scanned in a few milliseconds. */
  smallList: 20_000,
  /** Cached ids of one segment: a megabyte. */
  landmarks: 20_000,
  /** Rows that may be skipped from the first without a cached id. */
  shallow: 1_000,
};

interface PageQuery extends Page {
  readonly search: string | undefined;
}

export interface MemberPages {
  /** The ids of a page, newest person first. @throws ApiError BAD_REQUEST for conditions that take too long */
  find(
    workspaceId: WorkspaceId,
    target: ListConditions,
    query: PageQuery,
  ): Promise<{ readonly ids: string[]; readonly total: number }>;
}

/** Every `stride`-th id of a segment. */
interface Landmarks {
  readonly ids: readonly string[];
  readonly stride: number;
}

/** @param bounds other values are for tests */
export function createMemberPages(db: Database, clock: Clock, bounds = usualBounds): MemberPages {
  const totals = new AsyncCache<number>({ ms: FRESH_MS, most: MOST_SEGMENTS * 10 });
  const landmarks = new AsyncCache<Landmarks>({ ms: FRESH_MS, most: MOST_SEGMENTS });

  const findRemembered = async (workspaceId: WorkspaceId, segment: Segmentation, page: Page) => {
    const { limit, offset, after } = page;
    const relation = membersRelation(workspaceId, segment);
    const question = `${await findRevision(db, workspaceId)} ${questionOf(relation)}`;
    const total = await totals.get(question, () =>
      withDeadline(db, workspaceId, MOST_MS, (tx) => countMembersIn(tx, relation)),
    );
    if (after !== undefined) {
      const rest = membersRelation(workspaceId, segment, isAfter(after));
      const ids = await withDeadline(db, workspaceId, MOST_MS, (tx) =>
        listIdsIn(tx, rest, { from: null, skip: 0, limit }),
      );
      return { ids, total };
    }
    if (offset >= total) return { ids: [], total };
    const stride = Math.ceil(total / bounds.landmarks);
    const walk = (from: string | null, skip: number) =>
      withDeadline(db, workspaceId, MOST_MS, (tx) => listIdsIn(tx, relation, { from, skip, limit }));
    if (stride > 1 && offset < bounds.shallow) return { ids: await walk(null, offset), total };
    const known = await landmarks.get(question, () =>
      withDeadline(db, workspaceId, MOST_MS, async (tx) => ({
        stride,
        ids: await listEveryId(tx, relation, stride),
      })),
    );
    if (known.stride > 1) {
      const from = known.ids[Math.floor(offset / known.stride)];
      return { ids: from === undefined ? [] : await walk(from, offset % known.stride), total };
    }
    // A few members among many people may lie far apart, so they are looked up by their ids.
    const these = sql`s.id = any(${known.ids.slice(offset, offset + limit)}::uuid[])`;
    const shown = membersRelation(workspaceId, segment, these);
    return {
      ids: await withDeadline(db, workspaceId, MOST_MS, (tx) =>
        listIdsIn(tx, shown, { from: null, skip: 0, limit }),
      ),
      total,
    };
  };

  return {
    async find(workspaceId, target, { search, ...page }) {
      const sizes = await listSizes(db, workspaceId, [target.mailing_list_id]);
      const isSmall = (sizes.get(target.mailing_list_id) ?? 0) <= bounds.smallList;
      const now = isSmall ? clock.now() : new Date(Math.floor(clock.now().getTime() / FRESH_MS) * FRESH_MS);
      const segment = (await openBinder(db, workspaceId, [target], now)).bind(target);
      if (!isSmall && search === undefined) return findRemembered(workspaceId, segment, page);
      const relations = (search === undefined ? [undefined] : searchConditions(workspaceId, search)).map(
        (found) => membersRelation(workspaceId, segment, found),
      );
      const most = search === undefined ? null : MOST_FOUND;
      return withDeadline(db, workspaceId, MOST_MS, (tx) => findPageIn(tx, relations, most, page));
    },
  };
}

const isAfter = (id: string) => sql`s.id < ${id}`;

/** The cache key of a relation: its text and values. */
function questionOf({ text, values }: Sql): string {
  return hash("sha256", JSON.stringify([text, values]));
}
