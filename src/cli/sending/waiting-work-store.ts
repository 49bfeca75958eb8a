/** What is sent once sending is released: counted for the operator, over all workspaces. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import { findHalted } from "#sending/halted/find-halted.ts";

/** Without what waits for another reason as well: halted messages, and work of suspended workspaces. */
export interface WaitingWork {
  /** In the delivery queue, mail and SMS. */
  readonly messages: number;
  /** Those of them that wait for a time in the future. */
  readonly scheduled_messages: number;
  /** In the queue besides: of suspended workspaces, and of paused campaigns and autoresponders. */
  readonly halted_messages: number;
  readonly campaigns_sending: number;
  readonly campaigns_scheduled: number;
  readonly autoresponders_active: number;
  readonly webhook_deliveries: number;
}

/** Reads the whole queue: some hundred milliseconds for a million messages. */
export async function countWaitingWork(db: Queryable): Promise<WaitingWork> {
  const { paused } = await findHalted(db);
  const counted = await db.row<WaitingWork>(sql`
    with suspended as materialized (
      select id from workspaces where is_suspended
    ), queued as (
      select due_at, campaign_id = any (${[...paused]}::uuid[]) or workspace_id in (select id from suspended) as is_halted
      from delivery_queue
    )
    select messages, scheduled_messages, halted_messages,
      (select count(*) from campaigns
        where status = 'sending' and workspace_id not in (select id from suspended)) as campaigns_sending,
      (select count(*) from campaigns
        where status = 'scheduled' and workspace_id not in (select id from suspended)) as campaigns_scheduled,
      (select count(*) from autoresponders
        where status = 'active' and workspace_id not in (select id from suspended)) as autoresponders_active,
      (select count(*) from webhook_deliveries
        where status = 'pending' and workspace_id not in (select id from suspended)) as webhook_deliveries
    from (
      select count(*) filter (where not is_halted) as messages,
        count(*) filter (where not is_halted and due_at > now()) as scheduled_messages,
        count(*) filter (where is_halted) as halted_messages
      from queued) queue`);
  if (counted === undefined) throw new Error("the waiting work could not be counted");
  return counted;
}
