/** Notices about a message that move no state: a server further on says that it is late. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

export interface DelayNotice {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
  /** A UUID: the same notice writes one event, however often it comes. */
  readonly id: string;
  readonly time: Date;
  /** At most 500 characters are kept. */
  readonly detail: string;
  readonly mxHost: string | null;
  readonly enhancedCode: string | null;
}

/** Writes the event `delayed`, and says whether it is new. */
export async function insertDelayNotice(tx: Queryable, notice: DelayNotice): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into message_events (workspace_id, message_id, id, type, time, detail, mx_host, enhanced_code)
    values (${notice.workspaceId}, ${notice.messageId}, ${notice.id}, 'delayed', ${notice.time},
      ${notice.detail.slice(0, 500).toWellFormed()}, ${notice.mxHost}, ${notice.enhancedCode})
    on conflict do nothing`);
  return inserted > 0;
}
