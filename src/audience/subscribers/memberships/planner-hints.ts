import sql, { type Sql } from "sql-template-tag";
import type { WorkspaceId } from "#platform/ids.ts";

/**
 * A select of the rows of a relation, with the workspace as a column, for laterals to look people up by. Of a constant
 * that its statistics do not know yet PostgreSQL expects one person, takes any index that begins with the workspace, and
 * then looks for each of a hundred thousand people through all of them; of a column it knows nothing worse than the
 * average.
 */
export function withWorkspace(workspaceId: WorkspaceId, relation: Sql): Sql {
  return sql`select *, ${workspaceId}::uuid as workspace from ${relation} offset 0`;
}
