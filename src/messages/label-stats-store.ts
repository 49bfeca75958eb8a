/** Counts messages by tag and metadata. */
import sql, { join, raw } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import { firstIdAt, type WorkspaceId } from "#platform/ids.ts";
import { hasLabelSql, type Label, labelledSql } from "./labels-store.ts";
import { type StoredStatus, storedStatuses } from "./message/status.ts";

/** The newest messages with the label that are counted: they take PostgreSQL half a second. */
export const MOST_LABELLED = 50_000;

export type LabelCounts = Readonly<Record<StoredStatus, number>> & {
  readonly messages: number;
  /** Messages that a person opened, or clicked a link of. */
  readonly opened: number;
  readonly clicked: number;
  /** The oldest message that was counted, if there are more; null when all were. */
  readonly since: Date | null;
};

/**
 * Counts the messages that have all of the labels and were accepted since a time, up to MOST_LABELLED that have the first.
 * @param labels at least one
 */
export async function countLabelled(
  db: Queryable,
  workspaceId: WorkspaceId,
  labels: readonly [Label, ...Label[]],
  from: Date,
): Promise<LabelCounts> {
  const [first] = labels;
  const happened = (type: string) => sql`
    count(*) filter (where exists (
      select from message_events e
      where e.workspace_id = ${workspaceId} and e.message_id = m.id and e.type = ${type}))`;
  const byStatus = storedStatuses.map(
    (status) => sql`count(*) filter (where m.status = ${status}) as ${raw(status)}`,
  );
  const counted = await db.row<LabelCounts>(sql`
    with found as materialized (
      select m.id from (select message_id as id from ${labelledSql(workspaceId, first)}) m
      where m.id >= ${firstIdAt(from)} order by m.id desc limit ${MOST_LABELLED}
    ), m as materialized (
      select m.id, m.status from found
      cross join lateral (
        select * from messages m where m.workspace_id = ${workspaceId} and m.id = found.id offset 0) m
      where ${join(labels.map(hasLabelSql), " and ")}
    )
    select count(*) as messages, ${join(byStatus)}, ${happened("opened")} as opened, ${happened("clicked")} as clicked,
      (select created_at from messages
        where workspace_id = ${workspaceId} and (select count(*) from found) = ${MOST_LABELLED}
          and id = (select id from found order by id limit 1)) as since
    from m`);
  if (counted === undefined) throw new Error("no row");
  return counted;
}
