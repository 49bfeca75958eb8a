/**
 * What must hold in the database when all is quiet, whatever happened before: each is a statement that finds the rows
 * which break it. (The numbers are those of the project's catalogue of invariants.)
 */
import sql, { type Sql } from "sql-template-tag";
import type { Database } from "#platform/database/pool.ts";

const final = sql`('delivered', 'bounced', 'failed', 'suppressed', 'cancelled', 'complained')`;

const broken = new Map<string, Sql>([
  [
    "I1: a message without a final state waits in the queue",
    sql`select m.id from messages m where m.status not in ${final} and not exists (
      select from delivery_queue q where q.workspace_id = m.workspace_id and q.message_id = m.id)`,
  ],
  [
    "I1: whatever waits in the queue is a message without a final state",
    sql`select q.message_id as id from delivery_queue q left join messages m
      on m.workspace_id = q.workspace_id and m.id = q.message_id where m.id is null or m.status in ${final}`,
  ],
  [
    "I1: every message has its content; those of campaigns are rendered when they are sent",
    sql`select m.id from messages m where m.source <> 'campaign' and not exists (
      select from message_contents c where c.workspace_id = m.workspace_id and c.message_id = m.id)`,
  ],
  [
    "I5: every delivered message has exactly one event that says so",
    sql`select m.id from messages m where m.status = 'delivered' and 1 <> (
      select count(*) from message_events e
      where e.workspace_id = m.workspace_id and e.message_id = m.id and e.type = 'delivered')`,
  ],
  [
    "I7: no lease is older than its deadline",
    sql`select message_id as id from delivery_queue where leased_by is not null and due_at < now() - interval '5 s'`,
  ],
]);

/** One sentence for each invariant that does not hold. */
export async function brokenInvariants(db: Database): Promise<string[]> {
  const sentences: string[] = [];
  for (const [promise, statement] of broken) {
    const rows = await db.rows<{ id: string }>(statement);
    if (rows.length > 0)
      sentences.push(`not true of ${rows.length} messages such as ${rows[0]?.id}: ${promise}`);
  }
  return sentences;
}

/** How many messages are in which state. */
export async function countStates(db: Database): Promise<Record<string, number>> {
  const rows = await db.rows<{ status: string; amount: number }>(
    sql`select status, count(*) as amount from messages group by status order by status`,
  );
  return Object.fromEntries(rows.map(({ status, amount }) => [status, amount]));
}
