/**
 * Invariants of the database when no work is in progress, after any sequence of kills. Each has a statement that finds
 * the rows that break it.
 */
import sql, { type Sql } from "sql-template-tag";
import type { Database } from "#platform/database/pool.ts";

const final = sql`('delivered', 'bounced', 'failed', 'suppressed', 'cancelled', 'complained')`;

const broken = new Map<string, Sql>([
  [
    "a message without a final state is in the queue",
    sql`select m.id from messages m where m.status not in ${final} and not exists (
      select from delivery_queue q where q.workspace_id = m.workspace_id and q.message_id = m.id)`,
  ],
  [
    "every queue row belongs to a message without a final state",
    sql`select q.message_id as id from delivery_queue q left join messages m
      on m.workspace_id = q.workspace_id and m.id = q.message_id where m.id is null or m.status in ${final}`,
  ],
  [
    "every message has its content, except campaign messages, which are rendered when they are sent",
    sql`select m.id from messages m where m.source <> 'campaign' and not exists (
      select from message_contents c where c.workspace_id = m.workspace_id and c.message_id = m.id)`,
  ],
  [
    "every delivered message has exactly one event of type delivered",
    sql`select m.id from messages m where m.status = 'delivered' and 1 <> (
      select count(*) from message_events e
      where e.workspace_id = m.workspace_id and e.message_id = m.id and e.type = 'delivered')`,
  ],
  [
    "no lease is older than its deadline",
    sql`select message_id as id from delivery_queue where leased_by is not null and due_at < now() - interval '5 s'`,
  ],
]);

/** One sentence for each broken invariant. */
export async function brokenInvariants(db: Database): Promise<string[]> {
  const sentences: string[] = [];
  for (const [promise, statement] of broken) {
    const rows = await db.rows<{ id: string }>(statement);
    if (rows.length > 0)
      sentences.push(`broken for ${rows.length} messages, for example ${rows[0]?.id}: ${promise}`);
  }
  return sentences;
}

/** Number of messages by state. */
export async function countStates(db: Database): Promise<Record<string, number>> {
  const rows = await db.rows<{ status: string; amount: number }>(
    sql`select status, count(*) as amount from messages group by status order by status`,
  );
  return Object.fromEntries(rows.map(({ status, amount }) => [status, amount]));
}
