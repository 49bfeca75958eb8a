/** The audit log as a CSV file. */
import { csvLine } from "#platform/csv/write.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type AuditFilter, listAuditEvents } from "./store.ts";

/** Rows of a file: more would take minutes. */
export const MOST_EXPORTED = 100_000;
const ROWS_AT_ONCE = 1_000;

const columns = [
  "at",
  "actor_kind",
  "actor_id",
  "actor_name",
  "operation",
  "resource_kind",
  "resource_id",
  "resource_name",
  "result",
  "code",
  "changes",
  "ip",
  "agent",
  "request_id",
  "reason",
] as const;

/** Lines of the file, read from the database as they are consumed. */
export async function* auditLines(db: Queryable, workspaceId: WorkspaceId, filter: AuditFilter) {
  yield csvLine(columns);
  let after: string | undefined;
  for (let read = 0; read < MOST_EXPORTED; read += ROWS_AT_ONCE) {
    const rows = await listAuditEvents(db, workspaceId, filter, { limit: ROWS_AT_ONCE, after });
    yield rows
      .map((row) =>
        csvLine(
          columns.map((column) => {
            if (column === "at") return row.at.toISOString();
            return column === "changes" ? JSON.stringify(row.changes) : (row[column] ?? "");
          }),
        ),
      )
      .join("");
    after = rows.at(-1)?.id;
    if (rows.length < ROWS_AT_ONCE) return;
  }
}
