import sql, { type Sql } from "sql-template-tag";
import type { WorkspaceId } from "#platform/ids.ts";

/**
 * A select of the rows of a relation with the workspace id as a column, for laterals that look people up. For a constant
 * workspace id that is not in its statistics yet, PostgreSQL expects one person, may choose any index that starts with the
 * workspace, and then scans the whole workspace for each given person. For a column it assumes an average workspace.
 */
export function withWorkspace(workspaceId: WorkspaceId, relation: Sql): Sql {
  return sql`select *, ${workspaceId}::uuid as workspace from ${relation} offset 0`;
}
