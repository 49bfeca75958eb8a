/**
 * Figures of all time by origin (campaign, autoresponder, API key). Exact at all times, like those of totals-store.ts.
 */
import sql, { type Sql } from "sql-template-tag";
import { type Counts, counters, sumsSql } from "#messages/counters/counters.ts";
import type { MessageSource } from "#messages/message/status.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { countersAndDeltasSql, type Paged, pageOfSums, totalSums } from "./sum-with-deltas-store.ts";

export interface OriginCounts extends Counts {
  readonly origin_id: string;
}

/** Figures of all messages ever sent. */
export function totalsEver(db: Queryable, workspaceId: WorkspaceId): Promise<Counts> {
  return totalSums(db, countersAndDeltasSql(workspaceId, "report_origins", { keys: [] }));
}

const ofOrigins = (workspaceId: WorkspaceId, where: Sql) =>
  countersAndDeltasSql(workspaceId, "report_origins", { keys: ["origin_id"], where });

/** Newest origin first (ids contain the time). Origins that sent nothing are missing. */
export function countsByOrigin(
  db: Queryable,
  workspaceId: WorkspaceId,
  source: MessageSource,
  page: Page,
): Promise<Paged<OriginCounts>> {
  const counted = ofOrigins(workspaceId, sql`and source = ${source}`);
  return pageOfSums(db, "origin_id", counted, { page, order: sql`origin_id desc` });
}

/** By id. Origins that sent nothing are missing. */
export async function countsOfOrigins(
  db: Queryable,
  workspaceId: WorkspaceId,
  source: MessageSource,
  originIds: readonly string[],
): Promise<ReadonlyMap<string, Counts>> {
  const where = sql`and source = ${source} and origin_id = any (${[...originIds]}::uuid[])`;
  const rows = await db.rows<OriginCounts>(sql`
    select origin_id, ${sumsSql(counters)} from ${ofOrigins(workspaceId, where)} group by origin_id`);
  return new Map(rows.map((row) => [row.origin_id, row]));
}
