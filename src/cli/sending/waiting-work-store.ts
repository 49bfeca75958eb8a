/** What is sent once sending is released: counted for the operator, over all workspaces. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

export interface WaitingWork {
  /** In the delivery queue, mail and SMS. */
  readonly messages: number;
  /** Those of them that wait for a time in the future. */
  readonly scheduled_messages: number;
  readonly campaigns_sending: number;
  readonly campaigns_scheduled: number;
  readonly autoresponders_active: number;
  readonly webhook_deliveries: number;
}

/** Reads the whole queue: some hundred milliseconds for a million messages. */
export async function countWaitingWork(db: Queryable): Promise<WaitingWork> {
  const counted = await db.row<WaitingWork>(sql`
    select messages, scheduled_messages,
      (select count(*) from campaigns where status = 'sending') as campaigns_sending,
      (select count(*) from campaigns where status = 'scheduled') as campaigns_scheduled,
      (select count(*) from autoresponders where status = 'active') as autoresponders_active,
      (select count(*) from webhook_deliveries where status = 'pending') as webhook_deliveries
    from (
      select count(*) as messages, count(*) filter (where due_at > now()) as scheduled_messages
      from delivery_queue) queue`);
  if (counted === undefined) throw new Error("the waiting work could not be counted");
  return counted;
}
