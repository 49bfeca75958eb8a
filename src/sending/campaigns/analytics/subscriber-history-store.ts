/** One subscriber's recent activity and bounces, over the mail of campaigns and autoresponders. */
import sql from "sql-template-tag";
import type { History } from "#audience/subscribers/subscriber-shapes.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type ActivityEvent, describeActivity, shownTypes } from "./describe-activity.ts";

/** Only the events of a subscriber's newest messages are read. */
const MOST_MESSAGES = 100;
const MOST_ACTIVITIES = 50;
const MOST_BOUNCES = 20;

export async function subscriberHistory(
  db: Queryable,
  workspaceId: WorkspaceId,
  subscriberId: string,
): Promise<Pick<History, "recent_activity" | "bounces">> {
  const [activities, bounces] = await Promise.all([
    listActivitiesOf(db, workspaceId, subscriberId, MOST_ACTIVITIES),
    listBouncesOf(db, workspaceId, subscriberId, MOST_BOUNCES),
  ]);
  return {
    recent_activity: activities.map(({ id, campaign_id, campaign_name, message_id, time, ...event }) => ({
      id,
      ...describeActivity(event),
      campaign_id,
      campaign_name,
      message_id,
      timestamp: time,
    })),
    bounces,
  };
}

const mailOf = (workspaceId: WorkspaceId, subscriberId: string) => sql`
  select campaign_id, message_id from campaign_recipients
  where workspace_id = ${workspaceId} and subscriber_id = ${subscriberId}
  union all
  select null, message_id from autoresponder_mails
  where workspace_id = ${workspaceId} and subscriber_id = ${subscriberId}
  order by message_id desc limit ${MOST_MESSAGES}`;

interface SubscriberActivityRow extends ActivityEvent {
  readonly id: string;
  /** Null, like campaign_name, for mail of an autoresponder. */
  readonly campaign_id: string | null;
  readonly campaign_name: string | null;
  readonly message_id: string;
  readonly time: Date;
}

/** Newest first. */
function listActivitiesOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  subscriberId: string,
  limit: number,
): Promise<SubscriberActivityRow[]> {
  return db.rows(sql`
    with mail as materialized (${mailOf(workspaceId, subscriberId)})
    select e.id, e.type, e.detail, e.mx_host, coalesce(e.times, 1) as times, e.time, e.message_id, mail.campaign_id,
      case when mail.campaign_id is not null then m.origin_name end as campaign_name
    from mail
    join messages m on m.workspace_id = ${workspaceId} and m.id = mail.message_id
    join message_events e on e.workspace_id = ${workspaceId} and e.message_id = mail.message_id
      and e.type = any (${[...shownTypes]}::text[])
    order by e.time desc, e.id desc limit ${limit}`);
}

/** Newest first. A bounce has the id of its `bounced` event, as in GET /bounces. */
function listBouncesOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  subscriberId: string,
  limit: number,
): Promise<History["bounces"]> {
  return db.rows(sql`
    with mail as materialized (${mailOf(workspaceId, subscriberId)})
    select b.id, b.bounce_type, b.category, b.smtp_code, b.enhanced_code, b.error_message, b.message_id, b.campaign_id,
      b.created_at
    from mail
    join message_events e on e.workspace_id = ${workspaceId} and e.message_id = mail.message_id
      and e.type = 'bounced'
    join bounces b on b.workspace_id = ${workspaceId} and b.id = e.id
    order by b.created_at desc, b.id desc limit ${limit}`);
}
